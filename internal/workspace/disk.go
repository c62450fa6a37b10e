package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"mirrorbeam/internal/regular"
)

// disk is where all folders and files of publishing are changed. A test sets
// allow to let the operation of its choice fail, or all from one on.
type disk struct {
	allow func(operation, path string) error
}

// ask returns the error that a test wants of an operation.
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

// link gives a file a second name. Of a symbolic link it links the link itself.
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

// renameIn renames a file in or below a folder. No link on the way leads out of it.
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

// exchange gives each of two files or folders the name of the other, at once.
func (d disk) exchange(a, b string) error {
	if err := d.ask("exchange", a); err != nil {
		return err
	}
	if err := exchange(a, b); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// remove removes a file or an empty folder; that it is gone is no error.
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
	return regular.Read(path)
}

func (d disk) readDir(path string) ([]fs.DirEntry, error) {
	if err := d.ask("list", path); err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}

// lstat returns nil where there is nothing by that name.
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

// writeFile writes a new file and waits until the device has it.
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

// sync waits until the device has a file, or the names in a folder. Some file
// systems cannot be asked that of a folder.
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

// syncsAtATime is how many files are synced side by side: a device that is asked
// for one at a time is idle most of it.
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

// mostRemovals bounds how often a folder is emptied that somebody writes to.
const mostRemovals = 100

// removeFolder removes a folder with all that is in it, last the mark by which
// it is known as a run's. What a runner has given up may write one more file while
// the folder is emptied, which then cannot be removed.
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

// empty removes all that is in a folder, its mark last.
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
