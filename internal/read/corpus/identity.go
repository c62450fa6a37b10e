package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mirrorbeam/internal/ground/storage"
)

// Identity is what all paths to one file or folder have in common.
type Identity = storage.Identity

// Identify returns the identity of the file or folder to which a path leads.
func Identify(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	return storage.IdentityOf(info), nil
}

// open opens a file for reading. It does not wait for a writer of a named pipe: anything but a regular file
// is an error.
func open(name string) (storage.File, storage.Info, error) {
	handle, err := storage.Open(name)
	if special, isSpecial := errors.AsType[*storage.IrregularError](err); isSpecial {
		err = irregular(name, special.Mode)
	}
	if err != nil {
		return nil, storage.Info{}, err
	}
	info, err := handle.Stat()
	if err != nil {
		handle.Close() // a file that was only opened
		return nil, storage.Info{}, err
	}
	return handle, info, nil
}

// irregular returns the error for a path that leads to something other than a regular file.
func irregular(path string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode.IsDir():
		return &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is not a regular file but %s: write its content to a file, or leave it out", path, kind)
}

// existing returns the longest part of a path that exists, with symbolic links resolved.
func existing(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		real, err := filepath.EvalSymlinks(path)
		if !isAbsent(err) || path == filepath.Dir(path) {
			return real, err
		}
		path = filepath.Dir(path)
	}
}

// isAbsent reports whether an error says that a path does not exist, or leads through a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
