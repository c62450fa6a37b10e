package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// TestAddEqualNames: folders whose files share a name come one a run with --add, and each is gone when the next one
// comes. The results have the names and the copies of a run over all folders, whatever names were short in earlier
// runs.
func TestAddEqualNames(t *testing.T) {
	n := newIncrementalJob(t, 77)
	away := t.TempDir()
	config := testConfig(t)
	config.Keys, config.Audit = methods.MinHash, "4"
	config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
	config.State = filepath.Join(t.TempDir(), "state")
	folders := []string{"z1", "z2", "a3", "b4"}
	whole := config
	whole.State, whole.Output = "", filepath.Join(t.TempDir(), "out")
	for run, folder := range folders {
		var b bytes.Buffer
		fmt.Fprintf(&b, "{\"text\":\"the same text of some words in each of the folders\"}\nno record\n")
		for range 20 {
			fmt.Fprintf(&b, "{\"text\":%q}\n", n.text())
		}
		path := filepath.Join(n.folder, folder)
		n.put(t, filepath.Join(folder, "part.jsonl"), b.Bytes())
		config.Input, config.Add, config.Overwrite = []string{path}, true, true
		s := runJob(t, config)
		if f := s.State.Files; f.New != 1 || f.Unchanged != run || f.Changed+f.Removed > 0 {
			t.Errorf("run %d: files %+v", run, f)
		}
		whole.Input = append(whole.Input, path)
		if run == 1 {
			continue // the first two folders stay a while
		}
		for _, gone := range folders[:run] {
			_ = os.Rename(filepath.Join(away, gone), filepath.Join(n.folder, gone)) // once they were away
		}
		whole.Overwrite = true
		want := runJob(t, whole)
		for _, name := range append(config.Outputs(), output.Rejects) {
			if got, want := readOutput(t, config.Output, name),
				readOutput(t, whole.Output, name); !bytes.Equal(got, want) {
				t.Errorf("run %d: %s:\n%s\nof a run over everything:\n%s", run, name, got, want)
			}
		}
		checkSame(t, "audit than of a run over everything", s.Audit, want.Audit)
		for _, gone := range folders[:run+1] {
			if err := os.Rename(filepath.Join(n.folder, gone), filepath.Join(away, gone)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAddReference: with --add the reference is what --reference names, and a file of the corpus cannot become one of
// it.
func TestAddReference(t *testing.T) {
	n, known := newIncrementalJob(t, 78), newIncrementalJob(t, 79)
	n.file(t, "a.jsonl", 30)
	known.texts = n.texts
	known.file(t, "r1.jsonl", 20)
	known.file(t, "r2.jsonl", 20)
	config := testConfig(t, n.folder)
	config.State, config.AllowRemoval, config.Add = filepath.Join(t.TempDir(), "state"), true, true
	for _, names := range [][]string{{"r1.jsonl", "r2.jsonl"}, {"r2.jsonl"}, nil, {"r1.jsonl"}} {
		config.Reference = nil
		for _, name := range names {
			config.Reference = append(config.Reference, filepath.Join(known.folder, name))
		}
		if s := n.run(t, config); (s.Counts.RemovedForReference > 0) != (len(names) > 0) {
			t.Errorf("reference %v: counts %+v", names, s.Counts)
		}
	}
	config.Reference = []string{filepath.Join(n.folder, "a.jsonl")}
	config.Input = []string{filepath.Join(known.folder, "r2.jsonl")}
	if _, err := Run(t.Context(), config); !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "every document would be a copy of itself") {
		t.Errorf("a file of the corpus as a reference: %v", err)
	}
}
