package pipeline

import (
	"bytes"
	"maps"
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
	config.Emit, config.Threshold = []string{output.Clusters, output.Mirrors, output.Sites, output.Suspects}, 0.5
	config.MirrorThreshold, config.MirrorPages = 0.25, 2 // so that groups come and go
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("s1.example\n"), plain)
	found := 0
	n.runNights(t, config, []string{"m:60", "z:60", "a:60", "q:60", "m:60", "z:60", ""}, func(night int, s Summary) {
		if s.Mirrors == nil {
			t.Fatal("the summary knows no sites")
		}
		other := config
		other.State, other.Lanes, other.Memory = cut, 3, 128<<20
		checkFollowed(t, s, other, told)
		found += int(s.Mirrors.Pairs) + int(s.Mirrors.Suspects)
	})
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
	for _, row := range decodeLoose[output.Suspect](t, readOutput(t, config.Output, output.Suspects)) {
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
