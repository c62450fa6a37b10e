package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"mirrorbeam.dev/internal/storage"
)

// errNotExchanged says that the folders could not be exchanged. Nothing has changed then.
var errNotExchanged = errors.New("the folders cannot be exchanged")

// publishByExchange builds the whole new folder next to the target, and takes the foreign files of the target
// into it. Then it exchanges the two folders. So at any time the target holds either the old results or the
// new ones, and all foreign files.
//
// It fails with errNotExchanged if the disk cannot exchange folders, or if the target has something that a
// new folder cannot get.
func (p *publication) publishByExchange() error {
	if isWorkingFolder(p.path) {
		return errNotExchanged
	}
	staging := p.staging(p.token)
	err := p.stage(staging)
	if err == nil {
		err = p.disk.exchange(staging, p.path)
	}
	if err != nil {
		return p.unstage(err)
	}
	err = p.disk.sync(filepath.Dir(p.path))
	if err == nil {
		err = p.giveBack(p.token)
	}
	if err != nil {
		if back := p.disk.exchange(staging, p.path); back != nil {
			return fmt.Errorf("the new results are in place, but other files of the folder may be in %s: %w", staging,
				errors.Join(err, back))
		}
		return p.unstage(err)
	}
	// The new results are in place. A failure to remove some of the old ones is not worth failing for. The
	// next job tries again.
	_ = p.discard(staging, p.token)
	return nil
}

func (p publication) unstage(cause error) error {
	if err := p.settle(p.token); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("%w: %w", errNotExchanged, cause)
}

// stage builds the new folder and locks it. Other jobs must find it taken as soon as it has the target's name.
func (p *publication) stage(staging string) error {
	if err := p.disk.mkdir(staging); err != nil {
		return err
	}
	before := ""
	for _, m := range p.moves {
		err := target{p.disk, staging}.makeRoom(m.To, before)
		before = m.To
		if err == nil {
			err = p.disk.link(p.from(m), filepath.Join(staging, m.To))
		}
		if err != nil {
			return err
		}
	}
	entries, err := p.disk.readDir(p.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case p.at(name) == p.partial(p.token), p.old.has(name, entry.IsDir()):
		case entry.IsDir():
			// A folder cannot have two names. Until the folder is given back, a link leads to where it will
			// be after the exchange.
			err = p.disk.symlink(placeholder(staging, name), filepath.Join(staging, name))
		default:
			err = p.disk.link(p.at(name), filepath.Join(staging, name))
		}
		if err != nil {
			return err
		}
	}
	if err := p.disk.copyAttributes(p.path, staging); err != nil {
		return err
	}
	if err := (target{p.disk, staging}).syncFolders(p.names()); err != nil {
		return err
	}
	if err := p.disk.sync(filepath.Dir(staging)); err != nil {
		return err
	}
	lock, err := storage.Lock(staging, os.O_RDONLY)
	if err != nil {
		return err
	}
	p.locks = append(p.locks, lock)
	return nil
}

func placeholder(staging, name string) string {
	return filepath.Join("..", filepath.Base(staging), name)
}

// settle removes the folder that a run has built next to the target, before or after the exchange. It gives
// foreign files back to the target, and removes results.
func (t target) settle(token string) error {
	staging := t.staging(token)
	info, err := t.disk.lstat(staging)
	if err != nil || info == nil || !t.isStaged(token) {
		return err
	}
	if err := t.giveBack(token); err != nil {
		return fmt.Errorf("move what is left in %s back to %s: %w", staging, t.path, err)
	}
	if err := t.discard(staging, token); err != nil {
		return fmt.Errorf("remove %s: %w", staging, err)
	}
	return nil
}

// isStaged reports whether there is a folder next to the target that a run of this user may have made. A new
// folder has the owner of the old one.
func (t target) isStaged(token string) bool {
	info, err := disk{}.lstat(t.staging(token))
	if err != nil || info == nil || !info.IsDir() {
		return false
	}
	if ownerOf(info).user == os.Geteuid() {
		return true
	}
	own, err := disk{}.lstat(t.path)
	return err == nil && own != nil && ownerOf(own).user == ownerOf(info).user
}

// giveBack moves all foreign files from the folder next to the target into the target, unless they are there
// already. Afterwards their names are on the device, since discard removes what stood for them.
func (t target) giveBack(token string) error {
	staging := t.staging(token)
	others, _, err := target{t.disk, staging}.others(token)
	if err != nil {
		return err
	}
	for _, name := range others {
		if err := t.giveBackOne(staging, name); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	if err := t.disk.sync(t.path); err != nil {
		return err
	}
	return t.disk.sync(staging)
}

// giveBackOne moves one file. A file that has a name in both folders is left for discard: until then the two
// folders can be exchanged again.
func (t target) giveBackOne(staging, name string) error {
	here, there := filepath.Join(staging, name), t.at(name)
	isDone, err := t.isGivenBack(staging, name)
	if err != nil || isDone {
		return err
	}
	theirs, err := t.disk.lstat(there)
	switch {
	case err != nil:
		return err
	case theirs == nil:
		return t.disk.rename(here, there)
	case isPlaceholder(there, staging):
		return t.disk.exchange(here, there)
	}
	return &os.PathError{Op: "move", Path: here, Err: syscall.EEXIST}
}

// isGivenBack reports whether a file next to the target is only a second name of a file in the target.
func (t target) isGivenBack(staging, name string) (bool, error) {
	here := filepath.Join(staging, name)
	if isPlaceholder(here, staging) {
		return true, nil
	}
	mine, err := t.disk.lstat(here)
	if err != nil {
		return false, err
	}
	theirs, err := t.disk.lstat(t.at(name))
	return err == nil && theirs != nil && os.SameFile(mine, theirs), err
}

// discard removes the folder next to the target, with links to foreign files and its results, the manifest last.
func (t target) discard(staging, token string) error {
	beside := target{t.disk, staging}
	others, results, err := beside.others(token)
	if err != nil {
		return err
	}
	for _, name := range others {
		isGivenBack, err := t.isGivenBack(staging, name)
		if err != nil {
			return err
		}
		if isGivenBack {
			if err := t.disk.remove(beside.at(name)); err != nil {
				return err
			}
		}
	}
	if err := beside.removeFiles(results); err != nil {
		return err
	}
	if err := removeMarked(t.disk, beside.partial(token), token); err != nil {
		return err
	}
	return t.disk.remove(staging)
}

// others returns the names of foreign files in a folder with results, and of the results, the manifest last.
func (t target) others(token string) (names, results []string, err error) {
	listed, err := t.disk.readManifest(t.path)
	if err != nil {
		return nil, nil, err
	}
	results = t.results(listed)
	known := newEarlier(results, false)
	entries, err := t.disk.readDir(t.path)
	for _, entry := range entries {
		if !known.has(entry.Name(), entry.IsDir()) && t.at(entry.Name()) != t.partial(token) {
			names = append(names, entry.Name())
		}
	}
	return names, results, err
}
