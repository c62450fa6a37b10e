package documents

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// longLines is the right to hold a line of more than corpus.LongLine bytes. One task has it at a time. It
// gives the right back when the documents of the line are fingerprinted or copied. Many such lines together
// would take too much memory.
var longLines = semaphore.NewWeighted(1)

// windows is the right to hold a zstd window of more than inflate.SmallWindow, and large pages of Parquet. One reader
// has it at a time, until the end of its file or row group. Who waits for longLines holds what it needs of it already.
var windows = semaphore.NewWeighted(1)

// Windows is the right of one reader to hold large windows, of all its open files. It is not for concurrent use.
type Windows struct{ held int }

// Hold waits until no other reader of the process holds a large window.
func (w *Windows) Hold(ctx context.Context) (release func(), err error) {
	if w.held == 0 {
		if err := windows.Acquire(ctx, 1); err != nil {
			return nil, err
		}
	}
	w.held++
	return func() {
		if w.held--; w.held == 0 {
			windows.Release(1)
		}
	}, nil
}

// HoldLongLine waits for the right to hold a long line.
func HoldLongLine(ctx context.Context) error { return longLines.Acquire(ctx, 1) }

// ReleaseLongLine gives the right back.
func ReleaseLongLine() { longLines.Release(1) }
