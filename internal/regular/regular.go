// Package regular opens files that may turn out to be something else, such as a named
// pipe, without waiting for anybody.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens a file for reading. It is an error at once if anything but a file has its
// name: to open a pipe would be to wait for somebody who writes to it.
func Open(path string) (*os.File, error) { return open(path, 0) }

// OpenHere opens a file as Open does, but follows no symbolic link by that name.
func OpenHere(path string) (*os.File, error) { return open(path, syscall.O_NOFOLLOW) }

func open(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read returns the content of a file that Open opens.
func Read(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Error says that something has the name of a file and is none.
type Error struct {
	// Path is the name.
	Path string
	// Mode says what it is.
	Mode fs.FileMode
}

// Error says what has the name.
func (e *Error) Error() string {
	kind := "a device"
	switch {
	case e.Mode.IsDir():
		kind = "a folder"
	case e.Mode&fs.ModeSymlink != 0:
		kind = "a link"
	case e.Mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case e.Mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Sprintf("%s is %s and no file", e.Path, kind)
}

// Check returns an *Error unless a file is regular.
func Check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &Error{path, info.Mode()}
}
