package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"mirrorbeam/internal/regular"
)

// What tells a job to move or remove files must come from the user who runs the job.
// In a folder that others may write to, they may put any lock, record or journal.

// writableByOthers are the modes with which somebody else may change a file.
const writableByOthers = 0o022

// isOwn reports whether only the user may have made, and may change, a file or folder.
func isOwn(info fs.FileInfo) bool {
	return ownerOf(info).user == os.Geteuid() && info.Mode()&writableByOthers == 0
}

// isOwnFolder reports whether a path is a folder of the user alone, and no link.
func isOwnFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir() && isOwn(info)
}

// readOwn returns the content of a file of the user alone. It is an error if it is
// anything else.
func readOwn(path string) ([]byte, error) {
	file, err := regular.OpenHere(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !isOwn(info) {
		return nil, &fs.PathError{Op: "trust", Path: path, Err: fs.ErrPermission}
	}
	return io.ReadAll(file)
}

// checkParent refuses a folder of temporary files in which somebody else can put
// another folder in the place of the run's. In a sticky folder, such as /tmp, they
// cannot.
func checkParent(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if user := ownerOf(info).user; user != os.Geteuid() && user != 0 {
		return fmt.Errorf("it belongs to another user (number %d), who could exchange the files of the job", user)
	}
	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("everybody may write to it and could exchange the files of the job (mode %o; 'chmod o-w' mends that)", info.Mode().Perm())
	}
	return nil
}
