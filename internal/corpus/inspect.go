package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// inspectAll fills in what is known of the files by opening them. They are
// opened side by side, for network file systems. The error is that of the
// first faulty file, or of the context.
func inspectAll(ctx context.Context, files []candidate) error {
	faults := make([]error, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(files), 4*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				faults[i] = inspect(&files[i].File)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	var first error
	more := -1
	for _, err := range faults {
		if err != nil {
			first = cmp.Or(first, err)
			more++
		}
	}
	if more > 0 {
		return fmt.Errorf("list inputs: %w (and %d more files with faults)", first, more)
	}
	if first != nil {
		return fmt.Errorf("list inputs: %w", first)
	}
	return nil
}

// inspect fills in Size, Generation, Identity and Compression of one file.
func inspect(file *File) error {
	handle, info, err := open(file.Path)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: make the file readable, or leave it out", err)
	}
	if err != nil {
		return err
	}
	defer handle.Close()
	stream := handle.From(0)
	defer stream.Close()
	file.Size, file.Generation, file.Identity = info.Size, info.Generation, info.Identity
	if file.Size == 0 {
		if _, err := io.ReadFull(stream, make([]byte, 1)); err == nil {
			return fmt.Errorf("%s has content but the size 0, as the files of /proc have: copy it to a file on disk, or leave it out", file.Path)
		}
	}
	if file.Compression, err = sniff(stream); err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	return nil
}
