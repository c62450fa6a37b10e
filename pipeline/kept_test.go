package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// TestStateKeepsWhatDecides: what decides about the exit code and about rejects is the same in a later run as in a run
// over everything, though the files are not read again: ids that are missing, what compressed files expand to, and
// documents that memory had no room for.
func TestStateKeepsWhatDecides(t *testing.T) {
	lines := func(documents int, format string) []byte {
		var b bytes.Buffer
		for i := range documents {
			fmt.Fprintf(&b, format, i, i, i, i)
		}
		return b.Bytes()
	}
	t.Run("ids", func(t *testing.T) {
		n := newIncrementalJob(t, 1)
		config := testConfig(t, n.folder)
		config.IDField, config.State, config.AllowRemoval, config.Overwrite = "key",
			filepath.Join(t.TempDir(), "state"), true, true
		n.put(t, "a.jsonl", lines(3, "{\"key\":%d,\"text\":\"some %d words %d in a text %d\"}\n"))
		n.put(t, "b.jsonl", lines(3, "{\"name\":%d,\"text\":\"other %d words %d in a text %d\"}\n"))
		runJob(t, config)
		n.goOn(t, "-a.jsonl")
		if _, err := Run(t.Context(), config); !errors.Is(err, ErrUsage) {
			t.Errorf("no document has an id any more: %v", err)
		}
	})
	t.Run("expanded", func(t *testing.T) {
		n := newIncrementalJob(t, 2)
		config := testConfig(t, n.folder)
		config.MaxExpanded, config.State, config.Overwrite = 4000, filepath.Join(t.TempDir(), "state"), true
		for i, name := range []string{"a.jsonl.gz", "b.jsonl.gz"} {
			n.put(t, name, press(t, ".gz", lines(60, "{\"id\":%d,\"text\":\"some %d words %d in a text %d\"}\n")))
			if _, err := Run(t.Context(), config); (err != nil) != (i > 0) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("memory", func(t *testing.T) {
		n := newIncrementalJob(t, 3)
		config := testConfig(t, n.folder)
		config.State, config.Overwrite, config.Memory = filepath.Join(t.TempDir(), "state"), true, 128<<20
		n.put(t, "a.jsonl", fmt.Appendf(nil, "{\"id\":1,\"text\":%q}\n", strings.Repeat("word ", 12<<20)))
		n.put(t, "b.jsonl", lines(3, "{\"id\":%d,\"text\":\"some %d words %d in a text %d\"}\n"))
		if s := runJob(t, config); s.Counts.Rejected != 1 {
			t.Fatalf("%d rejects: %s", s.Counts.Rejected, readOutput(t, config.Output, output.Rejects))
		}
		if s := runJob(t, config); !s.State.IsKept {
			t.Error("with the same memory it is read again")
		}
		config.Memory = 0
		if s := runJob(t, config); s.Counts.Rejected != 0 || s.State.Files.Changed != 1 {
			t.Errorf("with more memory %d rejects, files %+v: %s", s.Counts.Rejected, s.State.Files,
				readOutput(t, config.Output, output.Rejects))
		}
	})
}

// TestKeptNames: results stay only if a run over everything would write the same, though no file of the corpus has
// changed.
func TestKeptNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, n *incrementalJob, config *job.Config)
	}{
		{"names, as another input leads to the files", func(t *testing.T, n *incrementalJob, config *job.Config) {
			config.Input = []string{filepath.Dir(n.folder)}
		}},
		{"another file is passed over", func(t *testing.T, n *incrementalJob, config *job.Config) {
			if err := os.Rename(filepath.Join(n.folder, ".hidden.jsonl"),
				filepath.Join(n.folder, ".more.jsonl")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a pattern matches no file", func(t *testing.T, n *incrementalJob, config *job.Config) {
			config.Exclude = []string{"*.nothing"}
		}},
		{"a page about the data", func(t *testing.T, n *incrementalJob, config *job.Config) {
			n.put(t, "README.md", []byte("other data"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newIncrementalJob(t, 4)
			n.folder = filepath.Join(n.folder, "in")
			config := testConfig(t, n.folder)
			config.State, config.Layout = filepath.Join(t.TempDir(), "state"), output.Tree
			n.file(t, "a.jsonl", 20)
			n.put(t, ".hidden.jsonl", []byte("{}"))
			n.put(t, "README.md", []byte("data"))
			n.run(t, config)
			if s := n.run(t, config); !s.State.IsKept {
				t.Fatal("the results are made again without a reason")
			}
			c.change(t, n, &config)
			n.run(t, config)
		})
	}
}
