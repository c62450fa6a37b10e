package transforms

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/work"
)

// TestReadResult reads what finish wrote, and says so if there is nothing.
func TestReadResult(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadResult(dir); err == nil {
		t.Error("no result, yet no error")
	}
	finish := func(outcomes ...work.Outcome) error {
		f := &finishFn{Temp: []byte(dir)}
		return f.ProcessElement(t.Context(), 0, func(element *[]byte) bool {
			if len(outcomes) == 0 {
				return false
			}
			var err error
			if *element, err = outcomes[0].Encode(); err != nil {
				t.Fatal(err)
			}
			outcomes = outcomes[1:]
			return true
		})
	}
	a := work.Outcome{Stage: "fingerprint", Counts: work.Counts{Documents: 5, Rejected: 2}}
	b := work.Outcome{Stage: "write", Counts: work.Counts{Removed: 2}, Files: []output.File{
		{Name: "unique-1", Output: output.Unique, Rows: 3}, {Name: "rejects-1", Output: output.Rejects, Rows: 2},
	}}
	if err := finish(b, a); err != nil {
		t.Fatal(err)
	}
	result, err := ReadResult(dir)
	if err != nil || result.Counts.Kept != 3 || len(result.Files) != 2 || result.Files[0].Output != output.Rejects {
		t.Errorf("%+v, %v", result, err)
	}
	// What was written must be what was counted.
	for what, rows := range map[int]int64{0: 2, 1: 1} {
		wrong := b
		wrong.Files = slices.Clone(b.Files)
		wrong.Files[what].Rows = rows
		if err := finish(a, wrong); err == nil {
			t.Errorf("%d rows of %s pass", rows, wrong.Files[what].Output)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.partial")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(resultPath(dir), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadResult(dir); err == nil {
		t.Error("a broken result is taken")
	}
}
