package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"mirrorbeam/internal/ground/storage"
)

// copyAttributes gives a folder the owner, the group, the mode and the extended attributes of another one.
// Access lists are among the extended attributes.
func (d disk) copyAttributes(from, to string) error {
	if err := d.ask("copy attributes", from); err != nil {
		return err
	}
	model, err := os.Stat(from)
	if err != nil {
		return err
	}
	made, err := os.Stat(to)
	if err != nil {
		return err
	}
	if want, have := ownerOf(model), ownerOf(made); want != have {
		if err := os.Chown(to, want.user, want.group); err != nil {
			return err
		}
	}
	if err := os.Chmod(to, model.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)); err != nil {
		return err
	}
	return copyExtended(from, to)
}

type owner struct{ user, group int }

func ownerOf(info fs.FileInfo) owner {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{int(stat.Uid), int(stat.Gid)}
	}
	return owner{-1, -1}
}

func copyExtended(from, to string) error {
	wanted, err := extended(from)
	if err != nil {
		return err
	}
	had, err := extended(to)
	if err != nil {
		return err
	}
	for name, value := range wanted {
		if old, is := had[name]; is && bytes.Equal(old, value) {
			continue
		}
		if err := unix.Setxattr(to, name, value, 0); err != nil {
			return fmt.Errorf("set attribute %s of %s: %w", name, to, err)
		}
	}
	for name := range had {
		if _, keeps := wanted[name]; keeps {
			continue
		}
		if err := unix.Removexattr(to, name); err != nil {
			return fmt.Errorf("remove attribute %s of %s: %w", name, to, err)
		}
	}
	return nil
}

// extended returns the extended attributes of a file. It returns none if the file system has no such
// attributes.
func extended(path string) (map[string][]byte, error) {
	names := make([]byte, 64<<10)
	n, err := unix.Listxattr(path, names)
	if errors.Is(err, syscall.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list attributes of %s: %w", path, err)
	}
	values := map[string][]byte{}
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Getxattr(path, name, value)
		if err != nil {
			return nil, fmt.Errorf("read attribute %s of %s: %w", name, path, err)
		}
		values[name] = slices.Clip(value[:n])
	}
	return values, nil
}

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
