package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// shownSource returns a value in JSON as a table of sources shows it.
func shownSource(value string) string {
	var text string
	switch {
	case value == "null":
		return "(none)"
	case value == `""`:
		return value
	case json.Unmarshal([]byte(value), &text) == nil:
		return text
	}
	return value
}

// fromSources returns documents of many sources, in the field site. A few of them have many documents each; many have one
// or two. Some documents lack the field.
func fromSources(lines []line, many int, seed uint64) []line {
	random := newWriter(seed)
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.kind == rejectLine })
	return marked(lines, func(_ int, l *line) map[string]string {
		n := int(math.Pow(float64(many), random.random.Float64())) - 1
		value := fmt.Sprintf(`"site %d.example"`, n)
		switch {
		case n%7 == 3:
			value = fmt.Sprint(n)
		case n == 4:
			value = `""`
		case n == 5:
			value = `null`
		case n == 6:
			l.source = "(none)"
			return nil
		}
		l.source = shownSource(value)
		return map[string]string{"site": value}
	})
}

// TestSourceFieldChangesNothingElse: the rows of a job are the same with and without the field, and so is the hash of its
// configuration. With passages the table counts documents that share one.
func TestSourceFieldChangesNothingElse(t *testing.T) {
	input := putCorpus(t, plain, cut(fromSources(oddities(78), 20, 79), 4)...)
	for _, similarity := range []methods.Similarity{methods.Resemblance, methods.Containment} {
		config := lawConfig(t, input)
		if config.Similarity = similarity; similarity == methods.Containment {
			config.Keys, config.Emit = methods.Auto, []string{output.Pairs}
		}
		plain := runJob(t, config)
		want := string(readOutput(t, config.Output, output.Pairs))
		config.SourceField, config.Output = "site", filepath.Join(t.TempDir(), "by field")
		summary := runJob(t, config)
		sameText(t, string(similarity), string(readOutput(t, config.Output, output.Pairs)), want)
		if !reflect.DeepEqual(summary.Counts, plain.Counts) || summary.ConfigHash != plain.ConfigHash {
			t.Errorf("%s: counts %+v and hash %s, want %+v and %s", similarity, summary.Counts, summary.ConfigHash, plain.Counts, plain.ConfigHash)
		}
		documents, elsewhere := int64(0), int64(0)
		for _, row := range summary.Sources {
			documents, elsewhere = documents+row.Documents, elsewhere+row.Elsewhere
		}
		if documents != summary.Counts.Documents || elsewhere == 0 {
			t.Errorf("%s: sources of %d documents, %d of them elsewhere: %+v", similarity, documents, elsewhere, summary.Sources)
		}
	}
}
