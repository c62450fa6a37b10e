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

	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/start/failure"
)

// spoolStdin copies the standard input to a file of the user's own, if it is among the inputs. A job reads
// its input more than once, and from several places at a time. It returns the path of the copy, and a
// function that removes it.
func spoolStdin(ctx context.Context, inputs ...[]string) (path string, remove func(), err error) {
	isWanted := func(inputs []string) bool { return slices.Contains(inputs, corpus.Stdin) }
	if !slices.ContainsFunc(inputs, isWanted) {
		return "", func() {}, nil
	}
	folder, err := os.MkdirTemp("", "runjob-stdin-")
	if err != nil {
		return "", nil, failure.New(failure.Storage, fmt.Errorf("hold the standard input: %w", err))
	}
	remove = func() { os.RemoveAll(folder) } // if it fails, the system clears its folder of temporary files
	path = filepath.Join(folder, "stdin")
	if err := copyToFile(path, bufio.NewReaderSize(interruptible{ctx, os.Stdin}, corpus.BatchBytes)); err != nil {
		remove()
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, failure.New(failure.Storage, fmt.Errorf("hold the standard input in %s (TMPDIR names another folder): %w", folder, err))
	}
	return path, remove, nil
}

// copyToFile makes a file of the bytes from a reader.
func copyToFile(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
