package documents

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// longLines is the right to hold a line of more than corpus.LongLine bytes. One task has it at a time. It
// gives the right back when the documents of the line are fingerprinted or copied. Many such lines together
// would take too much memory.
var longLines = semaphore.NewWeighted(1)

// HoldLongLine waits for the right to hold a long line.
func HoldLongLine(ctx context.Context) error { return longLines.Acquire(ctx, 1) }

// ReleaseLongLine gives the right back.
func ReleaseLongLine() { longLines.Release(1) }
