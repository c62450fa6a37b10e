package work_test

import (
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestMemo: what was noted is recalled for the same step and the same elements, and for no others.
func TestMemo(t *testing.T) {
	runs := work.Runs{Folder: work.Path(t.TempDir()), Resumable: true}
	done := work.Done{
		Outcome: work.Outcome{
			Stage:    work.Key,
			Number:   3,
			Run:      "/run-\xff",
			Findings: worktest.Counted(findings.Counts{Documents: 5}),
		},
		Tasks: [][]byte{{1, 2}, {}, {3}},
	}
	given := [][]byte{[]byte("ab"), []byte("c")}
	if err := runs.Remember(done, "step", given...); err != nil {
		t.Fatal(err)
	}
	got, found, err := runs.Recall("step", given...)
	if err != nil || !found || got.Outcome.Run != done.Outcome.Run ||
		!reflect.DeepEqual(got.Outcome.Counts, done.Outcome.Counts) || len(got.Tasks) != 3 ||
		!reflect.DeepEqual(got.Tasks[0], done.Tasks[0]) {
		t.Errorf("%+v, %t, %v", got, found, err)
	}
	for _, other := range []struct {
		step  string
		given [][]byte
	}{
		{"step", nil},
		{"step", given[:1]},
		{"step", [][]byte{[]byte("a"), []byte("bc")}},
		{"step", [][]byte{[]byte("abc")}},
		{"steps", given},
		{"", given},
	} {
		if _, found, err := runs.Recall(other.step, other.given...); found || err != nil {
			t.Errorf("%s %q: found %t, %v", other.step, other.given, found, err)
		}
	}
	runs.Resumable = false
	if _, found, _ := runs.Recall("step", given...); found {
		t.Error("a run that is not resumable recalls something")
	}
}
