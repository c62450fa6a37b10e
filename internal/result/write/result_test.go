package write

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestReadResult reads what Finish wrote, and reports a missing result.
func TestReadResult(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadResult(dir); err == nil {
		t.Error("no result, yet no error")
	}
	finish := func(outcomes ...work.Outcome) error {
		return Finish(dir, outcomes, false)
	}
	a := work.Outcome{Stage: work.Fingerprint, Findings: worktest.Counted(findings.Counts{Documents: 5, Rejected: 2})}
	a.Unnamed = 2
	b := work.Outcome{
		Stage:    work.Write,
		Findings: worktest.Counted(findings.Counts{Kept: 1, Removed: 2}),
		Files: []output.File{
			{Name: "unique-1", Output: output.Unique, Rows: 3},
			{Name: "rejects-1", Output: output.Rejects, Rows: 2},
			{Name: "sketches-1", Output: output.Sketches, Rows: 4},
			{Name: "sketches-2", Output: output.Sketches, Rows: 1},
		},
	}
	b.Skipped.Kept = 3
	sent := work.Outcome{Stage: work.Cluster, Findings: findings.Findings{Sent: 3}}
	if err := finish(b, sent, a); err != nil {
		t.Fatal(err)
	}
	result, err := ReadResult(dir)
	if err != nil || result.Counts.Kept != 3 || result.Unnamed != 2 || result.Skipped.Kept != 3 ||
		len(result.Files) != 4 || result.Files[0].Output != output.Rejects {
		t.Errorf("%+v, %v", result, err)
	}
	// The files must hold what was counted.
	for what := range b.Files {
		wrong := b
		wrong.Files = slices.Clone(b.Files)
		wrong.Files[what].Rows++
		if err := finish(a, sent, wrong); err == nil {
			t.Errorf("%d rows of %s pass", wrong.Files[what].Rows, wrong.Files[what].Output)
		}
	}
	// So must the clusters.
	if err := finish(a, work.Outcome{Stage: work.Cluster, Findings: findings.Findings{Sent: 4}}, b); err == nil ||
		!strings.Contains(err.Error(), "5 documents were read, 2 are kept and 2 removed") {
		t.Errorf("a document that got lost: error %v", err)
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
	if err := finish(work.Outcome{Findings: worktest.Counted(findings.Counts{Documents: 5})}); err != nil {
		t.Errorf("a job that writes no rows: %v", err)
	}
}
