package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: a text is like the earlier ones with the same words, also the ones of the run before.
func TestRun(t *testing.T) {
	*saved = filepath.Join(t.TempDir(), "texts.index")
	defer func() { *saved = "" }()
	for _, step := range []struct{ texts, want string }{
		{"one two three four\nanother text\nOne, two, three: four!\n", "text 3 is like text 1 (0 bits)\n"},
		{"another TEXT\n", "text 4 is like text 2 (0 bits)\n"},
		{"", ""},
	} {
		var out bytes.Buffer
		if err := run(strings.NewReader(step.texts), &out); err != nil || out.String() != step.want {
			t.Errorf("%q gives %q, %v; want %q", step.texts, out.String(), err, step.want)
		}
	}
}
