package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// mostLockings bounds the tries to lock a path that keeps becoming another file.
const mostLockings = 10

// Lock opens a file or folder of the local disk and takes its lock, or fails at once with syscall.EWOULDBLOCK. The
// locked file is the one that has that path when Lock returns. The lock ends when the file is closed. Flags are those
// of os.OpenFile. A Lease of the local disk rests on Lock.
func Lock(path string, flags int) (*os.File, error) {
	for range mostLockings {
		// Follow no links and wait for nothing: a path may be somebody else's pipe.
		file, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			file.Close()
			return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
		}
		if hasName(file) {
			return file, nil
		}
		file.Close()
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: syscall.EWOULDBLOCK}
}

// hasName reports whether an open file still has the path by which it was opened.
func hasName(file *os.File) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(held, named)
}

// localLease is a file whose lock is held.
type localLease struct{ *os.File }

// Lease locks a file, and makes it first if there is none.
func (Local) Lease(path, holder string) (Lease, error) {
	file, err := Lock(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		content, _ := os.ReadFile(path) // the file may be gone by now
		return nil, &HeldError{Name: path, Holder: strings.TrimSpace(string(content))}
	}
	if err != nil {
		return nil, err
	}
	if err = file.Truncate(0); err == nil {
		_, err = fmt.Fprintln(file, holder)
	}
	if err != nil {
		return nil, errors.Join(err, localLease{file}.Release())
	}
	return localLease{file}, nil
}

// Check returns an error if somebody has removed or replaced the file.
func (l localLease) Check() error {
	if !hasName(l.File) {
		return &fs.PathError{Op: "lease", Path: l.Name(), Err: fs.ErrNotExist}
	}
	return nil
}

// Release removes the file while it is locked. Whoever waits for the lock then sees that the file is gone and makes
// another one.
func (l localLease) Release() error {
	var err error
	if hasName(l.File) {
		err = os.Remove(l.Name())
	}
	return errors.Join(err, l.Close())
}
