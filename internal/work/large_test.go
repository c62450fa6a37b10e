package work

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestLargeTasksTakeTurns: while a task is large, no other becomes large, and small ones go on. At its end it gives its
// buffers and the right back.
func TestLargeTasksTakeTurns(t *testing.T) {
	runs := Runs{Folder: Path(t.TempDir()), LargeBytes: 100}
	newTaskContext := func() *TaskContext { return &TaskContext{Memory: &Memory{}, Runs: runs, Outcome: &Outcome{}} }
	// expecting returns the work of a task that expects some bytes.
	expecting := func(bytes int64) func(context.Context, Task, *TaskContext) error {
		return func(_ context.Context, _ Task, w *TaskContext) error { return w.Expect(bytes) }
	}
	first := newTaskContext()
	err := first.Do(t.Context(), Task{}, func(_ context.Context, _ Task, w *TaskContext) error {
		w.Hashes = make([]uint64, 100)
		if err := errors.Join(w.Expect(101), w.Expect(1000)); err != nil {
			return err
		}
		if err := newTaskContext().Do(t.Context(), Task{}, expecting(100)); err != nil {
			t.Errorf("a small task beside a large one: %v", err)
		}
		ended, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := newTaskContext().Do(ended, Task{}, expecting(101)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a large task beside a large one: %v", err)
		}
		return nil
	})
	if err != nil || first.Hashes != nil {
		t.Errorf("a large task: %v, and %d hashes are left", err, len(first.Hashes))
	}
	if err := newTaskContext().Do(t.Context(), Task{}, expecting(101)); err != nil {
		t.Errorf("a large task after a large one: %v", err)
	}
}
