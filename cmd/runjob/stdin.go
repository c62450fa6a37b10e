package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
)

// spoolStdin copies the standard input to a file of the user's own, if it is among the inputs. A job reads its input
// more than once, and from several places at a time. It returns the path of the copy, and a function that removes it.
func spoolStdin(ctx context.Context, inputs ...[]string) (path string, remove func(), err error) {
	isWanted := func(inputs []string) bool { return slices.Contains(inputs, corpus.Stdin) }
	if !slices.ContainsFunc(inputs, isWanted) {
		return "", func() {}, nil
	}
	folder, err := os.MkdirTemp("", "runjob-stdin-")
	if err != nil {
		return "", nil, failure.Errorf(failure.Storage, "hold the standard input: %w", err)
	}
	remove = func() { os.RemoveAll(folder) } // if it fails, the system clears its folder of temporary files
	path = filepath.Join(folder, "stdin")
	if err := copyToFile(path, bufio.NewReaderSize(interruptible{ctx, os.Stdin}, corpus.BatchBytes)); err != nil {
		remove()
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, failure.Errorf(failure.Storage,
			"hold the standard input in %s (TMPDIR names another folder): %w", folder, err)
	}
	return path, remove, nil
}

func copyToFile(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

// interruptible reads a file, such as the standard input, until a context ends. A read that waits for more
// bytes ends with the context. Nothing else would end it.
type interruptible struct {
	ctx  context.Context
	file *os.File
}

// attention is how long a read waits before it checks whether the context has ended.
const attention = 100 * time.Millisecond

// Read waits for bytes and reads them. If the context ends first, it returns the error of the context.
func (r interruptible) Read(b []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		waiting := []unix.PollFd{{Fd: int32(r.file.Fd()), Events: unix.POLLIN}}
		ready, err := unix.Poll(waiting, int(attention.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR): // a signal came, perhaps the one that ends the context
		case err != nil:
			return 0, fmt.Errorf("wait for %s: %w", r.file.Name(), err)
		case ready > 0:
			return r.file.Read(b)
		}
	}
}
