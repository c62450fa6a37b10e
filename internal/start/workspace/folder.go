package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mirrorbeam/internal/ground/storage"
)

// folder is an output folder on the local disk. The run holds its lock.
type folder struct {
	target

	locks []*os.File // locks of folders that have had the name of the output folder
}

func lockFolder(d disk, path string) (*folder, error) {
	// The folder that replaces this one must be beside the folder itself, not beside a link to it.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if _, err := d.readDir(path); err != nil {
		return nil, err
	}
	lock, err := storage.Lock(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &folder{target: target{d, path}, locks: []*os.File{lock}}, nil
}

func (t target) entries() (entries []entry, err error) {
	found, err := t.disk.readDir(t.path)
	for _, e := range found {
		entries = append(entries, entry{e.Name(), e.IsDir()})
	}
	return entries, err
}

// tokens returns the tokens of the runs that have marks in the folder or have published its results.
func (t target) tokens() (tokens []string, err error) {
	entries, err := t.entries()
	if err != nil {
		return nil, err
	}
	tokens = runTokens(entries)
	// A foreign manifest is a fault that a later check finds.
	if m, err := t.disk.readManifest(t.path); err == nil && m.Token != "" {
		tokens = append(tokens, m.Token)
	}
	return tokens, nil
}

// claim asks for the mark of the run, and for its lock.
func (f *folder) claim(token string) (bool, error) {
	r, is := f.recordOf(token)
	if !is {
		return false, f.removeUnmarked(token)
	}
	lock, err := storage.Lock(r.lock(), os.O_RDWR)
	if err == nil {
		lock.Close()
	}
	return !errors.Is(err, syscall.EWOULDBLOCK), nil
}

func (f *folder) recover(token string) error {
	r, _ := f.recordOf(token)
	if err := f.target.recover(token); err != nil {
		return err
	}
	sweeper{f.disk, f.path}.clearLock(r.lock(), token)
	return nil
}

// begin marks the folder of the run.
func (f *folder) begin(r record) error {
	if err := r.mark(f.disk, f.partial(r.token)); err != nil {
		return err
	}
	return checkRoom(f.partial(r.token))
}

func (f *folder) write(path string, content []byte) error {
	return f.disk.writeFile(path, content, 0o666)
}

// publish waits until the files are on the device, and gives them their names.
func (f *folder) publish(p publication) (isInterrupted bool, err error) {
	p.target = f.target
	var paths []string
	for _, m := range p.moves {
		paths = append(paths, p.from(m))
	}
	if err := errors.Join(f.disk.syncAll(paths), f.disk.sync(f.partial(p.token))); err != nil {
		return false, fmt.Errorf("write the results to the disk: %w", err)
	}
	err = p.publish()
	f.locks = append(f.locks, p.locks...)
	return err != nil && (errors.Is(err, errInterrupted) || f.disk.exists(p.staging(p.token))), err
}

func (f *folder) close(token string, isNeeded bool) {
	if !isNeeded {
		_ = f.disk.removeFolder(f.partial(token)) // if it fails, the next run removes it
	}
	for _, lock := range f.locks {
		lock.Close()
	}
}

// recordOf returns what a run has recorded in the target or beside it. Only runs of the same user count:
// other users clear away their own.
func (t target) recordOf(token string) (r record, is bool) {
	if r, is = marked(t.partial(token), token); !is && t.isStaged(token) {
		r, is = marked(target{t.disk, t.staging(token)}.partial(token), token)
	}
	return r, is
}

// removeUnmarked removes folders that have the names of a run but not its mark. Nothing proves that the run
// has made them. So it removes only empty ones.
func (t target) removeUnmarked(token string) error {
	var err error
	if t.isStaged(token) {
		beside := target{t.disk, t.staging(token)}
		err = errors.Join(removeMarked(t.disk, beside.partial(token), token), removeEmpty(beside.path))
	}
	return errors.Join(err, removeMarked(t.disk, t.partial(token), token))
}

// longestName is at least the length in bytes of every name that a run gives a file in its folders.
const longestName = 64

// checkRoom refuses a folder whose path is so long that its files cannot be named.
func checkRoom(folder string) error {
	_, err := disk{}.lstat(filepath.Join(folder, strings.Repeat("x", longestName)))
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("its path is too long, the files in it would have one of %d bytes: %w", len(folder)+1+longestName, syscall.ENAMETOOLONG)
	}
	return nil
}
