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

// CheckFolder refuses a folder of the local disk in which another user could put other files in place of the files of this
// user. In a sticky folder, such as /tmp, nobody can.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return checkInfo(info, info.Mode()&fs.ModeSticky != 0)
}

// CheckOwner refuses a file, a folder or a link of the local disk that another user has made, and a folder that everybody
// may write to. It also checks where a link leads to. Another user may leave such a thing in a sticky folder, under the name
// that this user is about to use. A path that is missing is no error.
func CheckOwner(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err = checkUser(info); err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return checkInfo(info, !info.IsDir())
}

// checkInfo checks who may exchange what is at a path. IsShielded says that the mode does not matter.
func checkInfo(info fs.FileInfo, isShielded bool) error {
	const writableByAll = 0o002
	if err := checkUser(info); err != nil {
		return err
	}
	if info.Mode()&writableByAll != 0 && !isShielded {
		return fmt.Errorf("everybody may write to it and could exchange the files of the job (mode %o; 'chmod o-w' mends that)", info.Mode().Perm())
	}
	return nil
}

// checkUser refuses what belongs to others. The administrator can change everything anyway.
func checkUser(info fs.FileInfo) error {
	stat, known := info.Sys().(*syscall.Stat_t)
	if known && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return fmt.Errorf("it belongs to another user (number %d), who could exchange the files of the job", stat.Uid)
	}
	return nil
}
