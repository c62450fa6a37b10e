package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
)

// TestNightsOfPassages: with containment a night writes what a run over everything writes.
func TestNightsOfPassages(t *testing.T) {
	n := newNight(t, 17)
	config := job.Default()
	config.Input, config.Output, config.State = []string{n.folder}, "out", filepath.Join(t.TempDir(), "state")
	config.Similarity, config.Excerpt, config.AllowRemoval = methods.Containment, 10, true
	for night, name := range []string{"m.jsonl", "a.jsonl", "m.jsonl", "z.jsonl"} {
		n.file(t, name, 40)
		if night == 3 {
			if err := os.Remove(filepath.Join(n.folder, "a.jsonl")); err != nil {
				t.Fatal(err)
			}
		}
		s := n.run(t, config)
		if n.checkSaved(t, s, 40); s.Counts.Pairs < 10 {
			t.Errorf("night %d: %d pairs tell little", night, s.Counts.Pairs)
		}
	}
}
