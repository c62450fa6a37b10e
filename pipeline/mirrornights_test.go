package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/job"
)

// TestMirrorNights: sites, mirrors and suspects are as in a run over everything, whatever files come and go. What changes is
// told, and it is the same however the job is cut.
func TestMirrorNights(t *testing.T) {
	n := newNight(t, 17)
	cut := filepath.Join(t.TempDir(), "state") // of the same job in other parts
	told := map[string]int64{}                 // pages of each suspect, as the changes tell
	config := testConfig(t, n.folder)
	config.State, config.AllowRemoval, config.Threshold = filepath.Join(t.TempDir(), "state"), true, 0.5
	config.Emit = []string{output.Clusters, output.Mirrors, output.Sites, output.Suspects}
	config.MirrorThreshold, config.MirrorPages = 0.25, 2 // so that groups come and go
	config.Protected = filepath.Join(t.TempDir(), "protected")
	if err := os.WriteFile(config.Protected, []byte("s1.example\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	found := 0
	for night := range 6 {
		var b bytes.Buffer
		for i := range 60 {
			text := n.text()
			n.texts = append(n.texts, text)
			fmt.Fprintf(&b, "{\"id\":\"d%d-%d\",\"text\":%q,\"url\":\"http://s%d.example/p%d\",\"date\":\"2026-11-%02d\"}\n", night, i, text, n.random.IntN(6), i, 1+n.random.IntN(28))
		}
		n.put(t, fmt.Sprintf("%c.jsonl", "mzaq"[night%4]), b.Bytes()) // a file sorts before the others, some change
		s := n.run(t, config)
		if s.Mirrors == nil {
			t.Fatal("the summary knows no sites")
		}
		n.checkSaved(t, s, 60)
		other := config
		other.State, other.Lanes, other.Memory = cut, 3, 128<<20
		checkFollowed(t, s, other, told)
		found += int(s.Mirrors.Pairs) + int(s.Mirrors.Suspects)
	}
	if s := n.run(t, config); s.State.Files.Unchanged != 4 {
		t.Errorf("files: %+v", s.State.Files)
	}
	if found == 0 {
		t.Error("no mirrors and no suspects were found")
	}
}

// checkFollowed checks that a job of the same input as a run tells of the same changes, and that these make the suspects of
// the last run those of this one.
func checkFollowed(t *testing.T, s Summary, config job.Config, told map[string]int64) {
	t.Helper()
	config.Output = filepath.Join(t.TempDir(), "out")
	runJob(t, config)
	changes := readOutput(t, config.Output, output.Changes)
	if !bytes.Equal(changes, readOutput(t, s.Config.Output, output.Changes)) {
		t.Error("in other parts the job tells of other changes")
	}
	counts := map[string]map[string]int64{output.Clusters: {}, output.Mirrors: {}, output.Suspects: {}, output.Protected: {}}
	for _, c := range decodeRows[output.Change](t, output.Changes, changes) {
		if c.Generation < int64(s.State.Generation) {
			continue // told again, since nobody acknowledges it
		}
		counts[c.Of][c.Change]++
		if c.Of != output.Suspects {
			continue
		}
		told[c.Lineage] = c.Size
		if c.Change == output.Gone {
			delete(told, c.Lineage)
		}
	}
	if !reflect.DeepEqual(s.State.Changes, counts) {
		t.Errorf("the summary counts %v, the changes are %v", s.State.Changes, counts)
	}
	suspects := map[string]int64{}
	for line := range bytes.Lines(readOutput(t, config.Output, output.Suspects)) {
		var row struct {
			ID     string `json:"id"`
			Common int64  `json:"common"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		suspects[row.ID] = row.Common
	}
	if !maps.Equal(told, suspects) {
		t.Errorf("the changes make the suspects %v, the rows are %v", told, suspects)
	}
	for _, open := range s.State.Suspects {
		if _, is := suspects[open.ID]; !is || open.Generation < 1 || open.Generation > int64(s.State.Generation) || open.Seen == "" {
			t.Errorf("the summary dates %+v", open)
		}
	}
	if len(s.State.Suspects) != len(suspects) {
		t.Errorf("the summary dates %d of %d suspects", len(s.State.Suspects), len(suspects))
	}
}
