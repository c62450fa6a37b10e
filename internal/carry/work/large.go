package work

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// large is the right to hold more memory than an ordinary task does, because documents are large. One task of the process has
// it at a time, in whatever stage.
var large = semaphore.NewWeighted(1)

// BeginLarge waits until no other task of the process holds large documents. Who gets the right must call [EndLarge].
func BeginLarge(ctx context.Context) error { return large.Acquire(ctx, 1) }

// EndLarge gives the right back.
func EndLarge() { large.Release(1) }

// Expect says how many bytes of documents the task is about to hold. If an ordinary task holds less, it waits until no other
// task is large. The task then stays large to its end.
func (w *Desk) Expect(bytes int64) error {
	if w.beginLarge == nil || w.isLarge || w.Runs.LargeBytes == 0 || bytes <= w.Runs.LargeBytes {
		return nil
	}
	err := w.beginLarge()
	w.isLarge = err == nil
	return err
}

// endLarge ends a task that may be large. Its buffers go before the next large task gets some of its own.
func (w *Desk) endLarge() {
	if !w.isLarge {
		return
	}
	w.isLarge = false
	w.Figures.Resident = residentBytes()
	*w.Memory = Memory{stage: w.stage, Figures: w.Figures, Run: w.Run}
	debug.FreeOSMemory()
	EndLarge()
}
