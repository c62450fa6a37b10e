package listing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// configOf returns a job on a folder of its own, which holds one document.
func configOf(t *testing.T) job.Config {
	t.Helper()
	folder := t.TempDir()
	config := job.Default()
	config.Input, config.Output = []string{filepath.Join(folder, "in")}, filepath.Join(folder, "out")
	put(t, filepath.Join(folder, "in", "a.jsonl"))
	return config
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777),
		os.WriteFile(path, []byte("{\"text\":\"one\"}\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// TestInputs: the files of the reference come first, and each is in a split.
func TestInputs(t *testing.T) {
	config := configOf(t)
	reference := filepath.Join(t.TempDir(), "z.jsonl")
	put(t, reference)
	config.Reference = []string{reference}
	inputs, size, err := Inputs(t.Context(), &config)
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs.Files) != 2 || inputs.Files[0].Path != reference || size != 30 || len(inputs.Splits) == 0 {
		t.Errorf("%d bytes in %+v", size, inputs)
	}
	config.Reference = []string{filepath.Join(filepath.Dir(reference), "nothing*")}
	if _, _, err := Inputs(t.Context(), &config); err == nil {
		t.Error("a reference that is not there is listed")
	}
}

// TestSplitBytes: the number of splits grows with the corpus, but more slowly.
func TestSplitBytes(t *testing.T) {
	for size, want := range map[int64]int64{
		0:         8 << 20,
		256 << 20: 8 << 20,
		512 << 20: 16 << 20,
		1 << 30:   32 << 20,
		16 << 30:  32 << 20,
		64 << 30:  64 << 20,
		256 << 30: 256 << 20,
		1 << 40:   1 << 30,
		100 << 40: 2560 << 20,
	} {
		if got := SplitBytes(size); got != want {
			t.Errorf("%d bytes: splits of %d bytes, want %d", size, got, want)
		}
	}
}

// TestApart refuses folders for results that are read.
func TestApart(t *testing.T) {
	config := configOf(t)
	if inputs, _, err := Apart(t.Context(), &config, Earlier{}); err != nil || len(inputs.Files) != 1 {
		t.Errorf("%+v, %v", inputs, err)
	}
	for name, change := range map[string]func(*job.Config){
		"output": func(c *job.Config) { c.Output = filepath.Join(c.Input[0], "out") },
		"temp":   func(c *job.Config) { c.Temp = filepath.Join(c.Input[0], "temp") },
		"kept": func(c *job.Config) {
			kept := filepath.Join(c.Output, "unique-00000-of-00001.jsonl")
			put(t, kept)
			c.Input = []string{kept}
		},
		"kept in a tree": func(c *job.Config) {
			kept := filepath.Join(c.Output, "unique", "train", "a.jsonl")
			put(t, kept)
			c.Input = []string{filepath.Dir(kept)}
		},
	} {
		changed := config
		change(&changed)
		if _, _, err := Apart(t.Context(), &changed, Earlier{}); !errors.Is(err, failure.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	trees := config
	trees.Layout, trees.Emit = output.Tree, []string{output.Unique}
	if _, _, err := Apart(t.Context(), &trees, Earlier{}); err != nil {
		t.Errorf("a tree: %v", err)
	}
	put(t, filepath.Join(trees.Input[0], strings.Repeat("\xff", 90)+".jsonl"))
	if _, _, err := Apart(t.Context(), &trees, Earlier{}); !errors.Is(err, failure.Input) ||
		!strings.Contains(err.Error(), "would have a name of 276 bytes") {
		t.Errorf("a tree that cannot be written: %v", err)
	}
	config.Input = []string{filepath.Join(config.Input[0], "nothing*")}
	if _, _, err := Apart(t.Context(), &config, Earlier{}); !errors.Is(err, failure.Input) {
		t.Errorf("no file: %v", err)
	}
}
