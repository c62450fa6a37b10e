package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoAnywhere: the demo needs no Go and no documents of the machine, replaces its corpus, and shows clusters and a
// difference.
func TestDemoAnywhere(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("runjob")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for range 2 {
		demo := exec.Command(program, "demo", "--output", "demo")
		demo.Dir, demo.Env = folder, []string{"PATH=", "HOME=" + folder}
		var said, errors strings.Builder
		demo.Stdout, demo.Stderr = &said, &errors
		if err := demo.Run(); err != nil {
			t.Fatalf("%v: %s", err, errors.String())
		}
		for _, want := range []string{
			"The largest clusters", "A pair that is not a copy", "would be removed",
			"What to try next",
		} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("the demo says %q, want %q", said.String(), want)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	if n, err := writeDemoCorpus(path, nil); err != nil || n != 0 || read(t, path) != string(fables) ||
		!isDemoCorpus(path) {
		t.Errorf("an empty disk gives %d documents beside the fables (%v)", n, err)
	}
	if n := bytes.Count(fables, []byte("\n")); n < 20 || len(fables) > 200_000 {
		t.Errorf("%d fables of %d bytes", n, len(fables))
	}
}
