package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"mirrorbeam.dev/internal/storage"
)

// disk makes all changes of files and folders in publishing. A test sets allow to make one operation fail, or
// all operations from one on.
type disk struct {
	allow func(operation, path string) error
}

func (d disk) ask(operation, path string) error {
	if d.allow == nil {
		return nil
	}
	if err := d.allow(operation, path); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}

func (d disk) do(operation, path string, act func() error) error {
	if err := d.ask(operation, path); err != nil {
		return err
	}
	return act()
}

func (d disk) mkdir(path string) error {
	return d.do("mkdir", path, func() error { return os.Mkdir(path, 0o700) })
}

// link gives a file a second name. If the file is a symbolic link, it links the link itself.
func (d disk) link(from, to string) error {
	return d.do("link", from, func() error {
		if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0); err != nil {
			return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
		}
		return nil
	})
}

func (d disk) symlink(target, path string) error {
	return d.do("symlink", path, func() error { return os.Symlink(target, path) })
}

func (d disk) rename(from, to string) error {
	return d.do("rename", from, func() error { return os.Rename(from, to) })
}

func (d disk) renameIn(folder, from, to string) error {
	return d.inRoot("rename", folder, from, func(root *os.Root) error { return root.Rename(from, to) })
}

// removeIn removes a file or an empty folder below a folder. It is no error if there is none.
func (d disk) removeIn(operation, folder, name string) error {
	return d.inRoot(operation, folder, name, func(root *os.Root) error {
		if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// mkdirIn makes a folder below a folder, and all those above it that are missing.
func (d disk) mkdirIn(folder, name string) error {
	return d.inRoot("mkdir", folder, name, func(root *os.Root) error { return root.MkdirAll(name, 0o777) })
}

// inRoot does an operation in or below a folder. It follows no link out of the folder.
func (d disk) inRoot(operation, folder, name string, act func(*os.Root) error) error {
	return d.do(operation, filepath.Join(folder, name), func() error {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return err
		}
		return errors.Join(act(root), root.Close())
	})
}

func (d disk) exchange(a, b string) error {
	return d.do("exchange", a, func() error {
		if err := exchange(a, b); err != nil {
			return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
		}
		return nil
	})
}

func (d disk) remove(path string) error {
	return d.do("remove", path, func() error { return storage.Local{}.Remove(path) })
}

// removeEmpty removes a folder if it is empty. It leaves anything else alone.
func removeEmpty(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return nil
}

func (d disk) readFile(path string) ([]byte, error) {
	if err := d.ask("read", path); err != nil {
		return nil, err
	}
	return storage.ReadRegular(path)
}

func (d disk) readDir(path string) ([]fs.DirEntry, error) {
	if err := d.ask("list", path); err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}

// lstat returns nil if nothing has that name.
func (d disk) lstat(path string) (fs.FileInfo, error) {
	if err := d.ask("stat", path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// exists also reports true if an error hides what has that name.
func (d disk) exists(path string) bool {
	info, err := d.lstat(path)
	return info != nil || err != nil
}

func (d disk) writeFile(path string, content []byte, mode fs.FileMode) error {
	if err := d.ask("create", path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if err = d.ask("write", path); err == nil {
		_, err = file.Write(content)
	}
	return errors.Join(err, file.Close())
}

// sync waits until a file, or the names in a folder, are on the device, unless a file system cannot sync folders.
func (d disk) sync(path string) error {
	return d.do("sync", path, func() error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = file.Sync()
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
			err = nil
		}
		return errors.Join(err, file.Close())
	})
}

// syncsAtATime files are synced side by side. A device that gets one request at once is mostly idle.
const syncsAtATime = 16

// manyFiles is how many files are at most synced one by one. For more of them a disk that can syncs all that is not on
// the device yet, of other programs as well, in a fraction of the time.
const manyFiles = 1000

func (d disk) syncAll(folder string, paths []string) error {
	if len(paths) > manyFiles {
		err := d.do("sync", folder, func() error { return syncDisk(folder) })
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	var group errgroup.Group
	group.SetLimit(syncsAtATime)
	for _, path := range paths {
		group.Go(func() error { return d.sync(path) })
	}
	return group.Wait()
}

// mostRemovals bounds how often removeFolder empties a folder to which somebody goes on writing.
const mostRemovals = 1000

// removeFolder removes a folder with all its content. The mark that shows which run owns the folder goes last. A task
// that the runner has given up may write one more file in the meantime. Then the folder is emptied again.
func (d disk) removeFolder(path string) error {
	var err error
	for range mostRemovals {
		if err = d.empty(path); err == nil {
			err = d.remove(path)
		}
		if !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
			break
		}
	}
	return err
}

func (d disk) empty(path string) error {
	entries, err := d.readDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == markName {
			continue
		}
		inner := filepath.Join(path, entry.Name())
		if err := d.do("remove", inner, func() error { return os.RemoveAll(inner) }); err != nil {
			return err
		}
	}
	return d.remove(filepath.Join(path, markName))
}

// makeFolder makes a folder and all missing folders above it. It returns those that it has made, the outermost first.
// An existing folder is left as it is.
func makeFolder(path string, mode fs.FileMode) (made []string, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if target, err := os.Readlink(path); err == nil {
		return nil, fmt.Errorf("it is a symbolic link to %s, which does not exist", target)
	}
	err = os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if made, err = makeFolder(filepath.Dir(path), mode); err != nil {
			return made, err
		}
		err = os.Mkdir(path, mode)
	}
	if errors.Is(err, fs.ErrExist) {
		return made, nil // another run has just made it
	}
	if err == nil {
		made = append(made, path)
	}
	return made, err
}

func isPlaceholder(path, staging string) bool {
	held, err := os.Readlink(path)
	return err == nil && held == placeholder(staging, filepath.Base(path))
}

// isWorkingFolder reports whether the process works in the folder. An exchange would leave the user's shell
// in a folder that is gone.
func isWorkingFolder(path string) bool {
	here, err := os.Stat(".")
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(here, info)
}

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

// extended returns no attributes if the file system has none.
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

func isOwnFolder(path string) bool {
	info, err := disk{}.lstat(path)
	return err == nil && info != nil && info.IsDir() && isOwn(info)
}

// readOwn returns the content of a file that belongs to the user alone. It returns an error for any other file.
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
