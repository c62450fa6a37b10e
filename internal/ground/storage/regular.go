package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// OpenRegular opens a file for reading. It is an error at once if anything but a file has its
// name: to open a pipe would be to wait for somebody who writes to it.
func OpenRegular(path string) (*os.File, error) { return openRegular(path, 0) }

// OpenUnlinked opens a file as Open does, but follows no symbolic link by that name.
func OpenUnlinked(path string) (*os.File, error) { return openRegular(path, syscall.O_NOFOLLOW) }

func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = CheckRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadRegular returns the content of a file that Open opens.
func ReadRegular(path string) ([]byte, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// IrregularError says that something has the name of a file and is none.
type IrregularError struct {
	// Path is the name.
	Path string
	// Mode says what it is.
	Mode fs.FileMode
}

// Error says what has the name.
func (e *IrregularError) Error() string {
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

// CheckRegular returns an *Error unless a file is regular.
func CheckRegular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &IrregularError{path, info.Mode()}
}
