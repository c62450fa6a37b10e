package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// passageText returns a text that has a passage of an earlier one, a text of a few blocks that others have in another
// order, or a new one. Texts of blocks have equal shingles, but not the same passages at the same places.
func (n *incrementalJob) passageText() string {
	draw := func(words int) string {
		var text []string
		for range words {
			text = append(text, n.words[n.random.IntN(len(n.words))])
		}
		return strings.Join(text, " ")
	}
	switch n.random.IntN(8) {
	case 0:
		for len(n.blocks) < 4 {
			n.blocks = append(n.blocks, draw(12))
		}
		first := n.random.IntN(3)
		text := n.blocks[first]
		for i := range 2 + n.random.IntN(3) {
			text += " " + n.blocks[first+(i+1)%2]
		}
		if n.random.IntN(2) == 0 {
			text = n.blocks[first+1] + " " + text
		}
		return text
	case 1, 2, 3:
		if len(n.texts) > 0 {
			source := strings.Fields(n.texts[n.random.IntN(len(n.texts))])
			at := n.random.IntN(len(source))
			return draw(n.random.IntN(40)) + " " +
				strings.Join(source[at:min(at+8+n.random.IntN(30), len(source))], " ") + " " + draw(n.random.IntN(40))
		}
	case 4:
		return draw(1 + n.random.IntN(7)) // fewer words than a passage
	}
	return n.text()
}

// TestPassageState: an incremental run with other settings, or with the state of an earlier version, compares all
// documents. What a state has kept of pairs is checked.
func TestPassageState(t *testing.T) {
	n := newIncrementalJob(t, 30)
	n.ofPassages = true
	config := containmentConfig(t, n.folder)
	config.State = filepath.Join(t.TempDir(), "state")
	last := 0
	run := func(isPruned bool, change func(c *job.Config)) {
		t.Helper()
		last++
		n.file(t, fmt.Sprintf("f%d.jsonl", last), 40)
		change(&config)
		s := n.run(t, config)
		if got := slices.ContainsFunc(s.Stages, func(stage finished.Stage) bool {
			return stage.Name == string(work.Prune) && stage.Tasks > 0
		}); got != isPruned {
			t.Errorf("run %d leaves documents out: %t", last, got)
		}
		config.Rebuild = false
	}
	edit := func(do func(c *state.Content, s *state.State) error) {
		t.Helper()
		s, err := state.Open(config.State, "a test")
		if err != nil {
			t.Fatal(err)
		}
		content := s.Last
		if err := errors.Join(do(&content, s), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	same := func(*job.Config) {}
	run(false, same)
	run(true, same)
	run(false, func(c *job.Config) { c.Excerpt = 12 })
	run(true, same)
	run(false, func(c *job.Config) { c.Passage = 5 })
	run(true, same) // the heads of most segments are of passages of six words
	edit(func(c *state.Content, s *state.State) error {
		c.Kept = ""
		return s.Commit(*c)
	})
	run(false, same)
	run(true, same)
	edit(func(c *state.Content, s *state.State) error { return os.Truncate(s.Path(c.Kept), 50) })
	n.file(t, "z.jsonl", 5)
	config.Output = filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), config); !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "rebuild") {
		t.Errorf("with a damaged file: %v", err)
	}
	run(false, func(c *job.Config) { c.Rebuild = true })
	run(true, same)
}
