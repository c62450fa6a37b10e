package settingsfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// known knows settings of one letter, and threshold, input and weight.
func known(name string) error {
	if len(name) == 1 || strings.Contains("threshold input weight", name) {
		return nil
	}
	return errors.New("no setting " + name)
}

func TestParse(t *testing.T) {
	got, err := Parse("job.yaml", []byte("threshold: 0.80\n# a comment\ninput: [a, b]\nweight: {title: 3}\nw:\n"), known)
	want := map[string]Value{
		"threshold": {"0.80", "job.yaml:1"}, "input": {[]any{"a", "b"}, "job.yaml:3"},
		"weight": {map[string]any{"title": 3.0}, "job.yaml:4"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for content, want := range map[string]string{
		"a: 1\na: 2\nnothing: 3": "job.yaml:2: a is given twice\njob.yaml:3: no setting nothing",
		"- a":                    "job.yaml: must have a setting a line, as in threshold: 0.9",
		"a: [[b]]":               "job.yaml:1: a must be a list of plain values",
		"a: {b: c}":              "job.yaml:1: a must have a number for each name",
	} {
		if _, err := Parse("job.yaml", []byte(content), known); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}

// FuzzParse: no file of settings makes the program panic.
func FuzzParse(f *testing.F) {
	for _, content := range []string{"a: 1", "threshold: 0.8", "input: [a, &b b, *b]", "? [a]\n: b", "", "null", "weight: {a: 1}", "weight: &w {a: *w}"} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = Parse("job.yaml", content, known) })
}
