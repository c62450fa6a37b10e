package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"mirrorbeam/internal/ground/storage"
)

// disk makes all changes of files and folders in publishing. A test sets allow to make one operation fail, or
// all operations from one on.
type disk struct {
	allow func(operation, path string) error
}

// ask returns the error that a test wants from an operation.
func (d disk) ask(operation, path string) error {
	if d.allow == nil {
		return nil
	}
	if err := d.allow(operation, path); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}

// mkdir makes a folder that only its owner may enter.
func (d disk) mkdir(path string) error {
	if err := d.ask("mkdir", path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

// link gives a file a second name. If the file is a symbolic link, it links the link itself.
func (d disk) link(from, to string) error {
	err := d.ask("link", from)
	if err != nil {
		return err
	}
	if err = unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	return nil
}

func (d disk) symlink(target, path string) error {
	if err := d.ask("symlink", path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

func (d disk) rename(from, to string) error {
	if err := d.ask("rename", from); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// renameIn renames a file in or below a folder. It follows no link out of the folder.
func (d disk) renameIn(folder, from, to string) error {
	if err := d.ask("rename", filepath.Join(folder, from)); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	return errors.Join(root.Rename(from, to), root.Close())
}

// exchange swaps the names of two files or folders in one step.
func (d disk) exchange(a, b string) error {
	if err := d.ask("exchange", a); err != nil {
		return err
	}
	if err := exchange(a, b); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// remove removes a file or an empty folder. It is no error if there is none.
func (d disk) remove(path string) error {
	if err := d.ask("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
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

// writeFile writes a new file and waits until it is on the device.
func (d disk) writeFile(path string, content []byte) error {
	if err := d.ask("create", path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if err = d.ask("write", path); err == nil {
		_, err = file.Write(content)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return d.sync(path)
}

// sync waits until a file, or the names in a folder, are on the device. It is no error if the file system
// cannot sync a folder.
func (d disk) sync(path string) error {
	if err := d.ask("sync", path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	err = file.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, file.Close())
}

// syncsAtATime is how many files are synced side by side. A device that gets one request at a time is idle
// most of the time.
const syncsAtATime = 16

// syncAll syncs files.
func (d disk) syncAll(paths []string) error {
	var group errgroup.Group
	group.SetLimit(syncsAtATime)
	for _, path := range paths {
		group.Go(func() error { return d.sync(path) })
	}
	return group.Wait()
}

// mostRemovals bounds how often removeFolder empties a folder to which somebody goes on writing.
const mostRemovals = 1000

// removeFolder removes a folder with all its content. The mark that shows which run owns the folder goes
// last. A task that the runner has given up may write one more file in the meantime. Then the folder is
// emptied again.
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

// empty removes all content of a folder. The mark goes last.
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
		if err := d.removeTree(filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return d.remove(filepath.Join(path, markName))
}

func (d disk) removeTree(path string) error {
	if err := d.ask("remove", path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}
