package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Identity is what all paths to one file or folder have in common. The zero
// Identity is not known: it is equal to no other.
type Identity struct {
	// Device is the number of the file system, Inode that of the file on it.
	Device, Inode uint64
}

// identityOf returns the identity of a file or folder.
func identityOf(info fs.FileInfo) Identity {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Ino == 0 {
		return Identity{}
	}
	return Identity{Device: uint64(stat.Dev), Inode: stat.Ino}
}

// Identify returns the identity of what a path leads to.
func Identify(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	return identityOf(info), nil
}

// open opens a file for reading. It does not wait, as for a named pipe that
// nobody writes to: such a file is an error. A folder is one when it is read.
func open(path string) (*os.File, fs.FileInfo, error) {
	handle, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := handle.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = irregular(path, info.Mode())
	}
	if err != nil {
		handle.Close() // a file that was only opened
		return nil, nil, err
	}
	return handle, info, nil
}

// irregular is the error of a path by the name of a wanted file that is none.
func irregular(path string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is not a regular file but %s: write its content to a file, or leave it out", path, kind)
}

// existing returns the longest part of a path that exists, without symbolic
// links in it.
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

// isAbsent reports whether a path does not exist, or leads through a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
