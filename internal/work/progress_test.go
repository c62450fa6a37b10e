package work

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestProgress: tasks are counted for the job that they belong to, while somebody watches.
func TestProgress(t *testing.T) {
	runs, others := Runs{Folder: Path(t.TempDir())}, Runs{Folder: Path(t.TempDir())}
	p, end := Watch(runs.Folder)
	do := func(r Runs, stage Stage) {
		figures, err := r.Run(context.Background(), stage, 0, func(m *Memory) error {
			m.Figures.Records, m.Figures.Bytes = 2, 10
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Ended(stage, figures)
	}
	runs.Expect(Fingerprint, 3)
	do(runs, Fingerprint)
	do(runs, Fingerprint)
	runs.Ended(Fingerprint, Figures{}) // an earlier run had done it
	do(runs, Key)
	do(others, Key)
	got := p.Stages()
	for i := range got {
		if got[i].Begun.IsZero() || got[i].Ended.Before(got[i].Begun) {
			t.Errorf("from %v to %v", got[i].Begun, got[i].Ended)
		}
		got[i].Begun, got[i].Ended, got[i].Resident = time.Time{}, time.Time{}, 0
	}
	want := []StageProgress{
		{Stage: Fingerprint, Tasks: 3, Done: 3, Records: 4, Bytes: 20},
		{Stage: Key, Tasks: 1, Done: 1, Records: 2, Bytes: 10},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	end()
	do(runs, Key)
	if got := p.Stages(); got[1].Done != 1 {
		t.Errorf("a task was counted when nobody watched: %+v", got[1])
	}
}
