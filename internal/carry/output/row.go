package output

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"mirrorbeam/internal/ground/quoting"
)

// A row is a struct whose tags name its fields in JSON and its columns in Parquet, in their order. Strings in it are texts as
// [quoting.Text] returns them. A field is left out of a line of JSON where omitempty says so, or where the field that the tag
// "with" names is empty.

// appender is a row that appends itself as a line of JSON. Rows that may be as many as documents do so, since that
// takes a tenth of the time.
type appender interface{ AppendJSON(b []byte) []byte }

// AppendRow appends a row as a line of JSON, which encoding/json reads back.
func AppendRow(b []byte, row any) []byte {
	if self, is := row.(appender); is {
		return self.AppendJSON(b)
	}
	return append(appendValue(b, reflect.Indirect(reflect.ValueOf(row))), '\n')
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return quoting.AppendQuoted(b, v.String())
	case reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Float64:
		return AppendFloat(b, v.Float())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	}
	separator := byte('{')
	for field, value := range v.Fields() {
		name, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		with := field.Tag.Get("with")
		if omit != "" && value.IsZero() || with != "" && v.FieldByName(with).IsZero() {
			continue
		}
		b = append(b, separator, '"')
		b = append(b, name...)
		b = append(b, `":`...)
		b, separator = appendValue(b, value), ','
	}
	return append(b, '}')
}

// appendMark appends a field that a row has only if it is true.
func appendMark(b []byte, name string, is bool) []byte {
	if !is {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":true`...)
}

// plainRow is a row that reads lines as its AppendJSON writes them, in a fraction of the time that JSON in general takes. It
// reports false for any other line. A text that was in the row before is used again.
type plainRow interface{ parsePlain(line []byte) bool }

// parseRow reads a line of JSON into a row, which may hold another one.
func parseRow[T any](line []byte, row *T) error {
	if plain, is := any(row).(plainRow); is && plain.parsePlain(line) {
		return nil
	}
	*row = *new(T)
	return json.Unmarshal(line, row)
}

// plainLine takes the fields of a line one after the other. It is not ok if one of them is missing.
type plainLine struct {
	rest []byte
	ok   bool
}

// take takes what a field begins with, if it is there.
func (l *plainLine) take(start string) bool {
	if len(l.rest) < len(start) || string(l.rest[:len(start)]) != start {
		return false
	}
	l.rest = l.rest[len(start):]
	return true
}

// text takes a string without escapes that begins after start. It is often the last one.
func (l *plainLine) text(start, last string) string {
	l.ok = l.ok && l.take(start)
	end := bytes.IndexByte(l.rest, '"')
	if l.ok = l.ok && end >= 0 && bytes.IndexByte(l.rest[:end], '\\') < 0; !l.ok {
		return ""
	}
	content := l.rest[:end]
	if l.rest = l.rest[end+1:]; string(content) == last {
		return last
	}
	return string(content)
}

// number takes a number that begins after start.
func (l *plainLine) number(start string) float64 {
	if l.ok = l.ok && l.take(start); !l.ok {
		return 0
	}
	end := 0
	for end < len(l.rest) && l.rest[end] != ',' && l.rest[end] != '}' {
		end++
	}
	x, err := strconv.ParseFloat(string(l.rest[:end]), 64)
	l.rest, l.ok = l.rest[end:], err == nil
	return x
}

// flag takes true or false, which comes after start.
func (l *plainLine) flag(start string) bool {
	l.ok = l.ok && l.take(start)
	is := l.take("true")
	l.ok = l.ok && (is || l.take("false"))
	return is
}

// end reports whether the line ends here, and all fields were there.
func (l *plainLine) end() bool { return l.ok && string(l.rest) == "}" }

type number struct {
	field string // its name with the comma, the quotes and the colon of JSON
	value float64
}

// appendNumbers appends fields as [AppendFloat] writes numbers. It is for rows of documents that are much alike: the
// numbers of such rows repeat, and to look one up takes less time than to find its digits again.
func appendNumbers(b []byte, numbers ...number) []byte {
	f := known.Get().(*figures)
	for _, n := range numbers {
		b = f.append(append(b, n.field...), n.value)
	}
	known.Put(f)
	return b
}

// known are the figures that tasks have to hand.
var known = sync.Pool{New: func() any { return new(figures) }}

// figures holds some numbers as rows have them, each at a place that its bits tell.
type figures [1 << figuresBits]figure

const figuresBits = 10

// figure is the bits of a number and its text, which is empty if there is no number yet.
type figure struct {
	bits   uint64
	length uint8
	text   [23]byte
}

// append appends a number and holds it in the place of another one.
func (f *figures) append(b []byte, x float64) []byte {
	const spread = 0x9e3779b97f4a7c15 // a bit that differs makes the highest bits of the product differ
	bits := math.Float64bits(x)
	held := &f[bits*spread>>(64-figuresBits)]
	if held.bits == bits && held.length > 0 {
		return append(b, held.text[:held.length]...)
	}
	start := len(b)
	b = AppendFloat(b, x)
	if text := b[start:]; len(text) <= len(held.text) {
		held.bits, held.length = bits, uint8(copy(held.text[:], text))
	}
	return b
}

// AppendFloat appends x, which is finite, in as few digits as tell it from its
// neighbours.
func AppendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }
