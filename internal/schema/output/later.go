package output

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/storage"
)

// laterFiles is how many files a Later finishes at a time.
const laterFiles = 32

// Later finishes small files while others are written, several at a time. A bucket takes as long to answer for a small
// file as for a large one. A nil Later finishes each file before the next.
type Later struct {
	group errgroup.Group
	most  int64 // bytes of a file
}

// NewLater returns a Later for the files of a folder. It holds no more than the given number of bytes. It is nil for
// the local disk, which finishes a file at once. [Later.Wait] must be called in the end.
func NewLater(folder string, bytes int64) *Later {
	if storage.Scheme(folder) == "" {
		return nil
	}
	l := &Later{most: bytes / laterFiles}
	l.group.SetLimit(laterFiles)
	return l
}

// finish finishes a file of that length in bytes, and reports whether it does so later.
func (l *Later) finish(out storage.Writer, name string, bytes int64) (later bool) {
	if l == nil || bytes > l.most {
		return false
	}
	l.group.Go(func() error {
		defer out.Abort()
		if err := out.Commit(); err != nil {
			return fmt.Errorf("finish %s: %w", name, err)
		}
		return nil
	})
	return true
}

// Wait waits until all files are finished. It returns the first error.
func (l *Later) Wait() error {
	if l == nil {
		return nil
	}
	return l.group.Wait()
}
