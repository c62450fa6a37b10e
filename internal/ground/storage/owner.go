package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

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
