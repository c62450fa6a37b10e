package workspace

import (
	"io"
	"io/fs"
	"os"

	"mirrorbeam/internal/ground/storage"
)

// A job moves or removes files only if files of the same user tell it to. Otherwise, in a folder that others
// may write to, others could leave any lock, record or journal.

// writableByOthers are the mode bits that let other users change a file.
const writableByOthers = 0o022

// isOwn reports whether only the user may have made a file or folder, and only the user may change it.
func isOwn(info fs.FileInfo) bool {
	return ownerOf(info).user == os.Geteuid() && info.Mode()&writableByOthers == 0
}

// isOwnFolder reports whether a path is a folder that belongs to the user alone, and not a link.
func isOwnFolder(path string) bool {
	info, err := disk{}.lstat(path)
	return err == nil && info != nil && info.IsDir() && isOwn(info)
}

// readOwn returns the content of a file that belongs to the user alone. It returns an error for any other
// file.
func readOwn(path string) ([]byte, error) {
	file, err := storage.OpenUnlinked(path)
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
