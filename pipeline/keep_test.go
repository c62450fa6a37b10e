package pipeline

import (
	"encoding/json"
	"math"
	"slices"
)

// marked returns documents with further fields. Mark returns the further fields of a document, in JSON, and may change the rest of
// the line.
func marked(lines []line, mark func(i int, l *line) map[string]string) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		if l.kind != documentLine {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(l.raw), &fields); err != nil {
			panic(err)
		}
		for name, value := range mark(i, l) {
			fields[name] = json.RawMessage(value)
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		l.raw = string(raw)
	}
	return lines
}

// values are values of a field and the numbers that they stand for; infinite: none.
var values = []struct {
	json   string
	number float64
}{
	{`3`, 3},
	{`-2.5`, -2.5},
	{`"7e2"`, 700},
	{`0`, 0},
	{`-0.0`, 0},
	{`" 12 "`, 12},
	{`"2024-02-29"`, 1709164800},
	{`"2024-02-29T01:00:00+01:00"`, 1709164800},
	{`"1969-12-31 23:59:59.5"`, -.5},
	{`9007199254740993`, 9007199254740992},
	{`null`, math.Inf(1)},
	{`"yesterday"`, math.Inf(1)},
	{`""`, math.Inf(1)},
	{`true`, math.Inf(1)},
	{`{"of":1}`, math.Inf(1)},
	{`[3]`, math.Inf(1)},
	{`"0x10"`, math.Inf(1)},
	{`"inf"`, math.Inf(1)},
	{`1e999`, math.Inf(1)},
}
