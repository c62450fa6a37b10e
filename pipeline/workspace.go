package pipeline

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam/internal/output"
)

// The files of the output folder beside the sharded ones.
const (
	manifestName = "manifest.json"
	summaryName  = "summary.json"
	successName  = "_SUCCESS"
)

// workspace is the folders of one run.
type workspace struct {
	output  string // where results are published
	partial string // in the output folder: results before they are
	parent  string // of the run's own temporary folder
	temp    string
	locks   []*os.File // held on output and temp while the run lives
	made    []string   // folders of this run's making, to be removed if empty
}

// openWorkspace makes the run's folders and clears away those of runs that
// died.
func openWorkspace(config Config) (*workspace, error) {
	w := &workspace{output: filepath.Clean(config.Output)}
	unusable := func(err error) error {
		return fmt.Errorf("the output folder %s cannot be used: %w: name another one with --output", w.output, err)
	}
	if err := w.makeFolder(w.output); err != nil {
		w.sweep()
		return nil, unusable(err)
	}
	entries, err := os.ReadDir(w.output)
	if err != nil {
		w.sweep()
		return nil, unusable(err)
	}
	lock, err := lockFile(w.output, os.O_RDONLY)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		w.sweep()
		return nil, fmt.Errorf("another job is writing to the output folder %s: wait for it, or give another folder", w.output)
	} else if err != nil {
		w.sweep()
		return nil, unusable(err)
	}
	w.locks = append(w.locks, lock)
	unfinished := w.unfinished()
	for _, entry := range entries {
		if !config.Overwrite && !strings.HasPrefix(entry.Name(), partialPrefix) && !slices.Contains(unfinished, entry.Name()) {
			w.sweep()
			return nil, fmt.Errorf("the output folder %s is not empty (it holds %s): give another one, or --overwrite to replace the results of an earlier job", w.output, entry.Name())
		}
	}
	if _, err := w.earlier(); err != nil {
		w.sweep()
		return nil, fmt.Errorf("the output folder %s holds what no job has written: %w: give another folder, or move the file away", w.output, err)
	}
	w.parent = config.tempFolder()
	if err := w.openTemp(); err != nil {
		w.sweep()
		return nil, fmt.Errorf("the temporary folder %s cannot be used: %w: name another one with --temp", w.parent, err)
	}
	// Tasks may run in processes with another working folder.
	for _, path := range []*string{&w.temp, &w.output} {
		if *path, err = filepath.Abs(*path); err != nil {
			w.sweep()
			return nil, unusable(err)
		}
	}
	w.partial = filepath.Join(w.output, partialPrefix+filepath.Base(w.temp))
	if err := os.Mkdir(w.partial, 0o777); err != nil {
		w.output = filepath.Clean(config.Output)
		w.sweep()
		return nil, unusable(err)
	}
	return w, nil
}

// tempFolder returns the folder that the runs of a configuration make theirs in.
func (c *Config) tempFolder() string {
	if c.Temp != "" {
		return c.Temp
	}
	return filepath.Clean(c.Output) + tempSuffix
}

const (
	runPrefix     = "run-"
	partialPrefix = ".partial-"
	tempSuffix    = ".temp"
	lockSuffix    = ".lock"
)

// openTemp makes the run's own folder. A lock beside it, held from before the
// folder is made, tells other runs that it was not left behind.
func (w *workspace) openTemp() error {
	// Another run that made the parent may just be removing it.
	for range 3 {
		err := w.makeTemp()
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.makeTemp()
}

func (w *workspace) makeTemp() error {
	if err := w.makeFolder(w.parent); err != nil {
		return err
	}
	w.clearDead()
	temp := filepath.Join(w.parent, runPrefix+rand.Text())
	lock, err := lockFile(temp+lockSuffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	w.locks = append(w.locks, lock)
	w.temp = temp
	return os.Mkdir(temp, 0o777)
}

// clearDead removes the folders of runs that ended without clearing up: nobody
// holds their locks.
func (w *workspace) clearDead() {
	locks, _ := filepath.Glob(filepath.Join(w.parent, runPrefix+"*"+lockSuffix))
	for _, name := range locks {
		folder := strings.TrimSuffix(name, lockSuffix)
		if _, err := os.Stat(folder); err != nil {
			continue // just being made
		}
		lock, err := lockFile(folder+lockSuffix, os.O_RDWR)
		if err != nil {
			continue
		}
		removeFolder(folder)
		removeFolder(filepath.Join(w.output, partialPrefix+filepath.Base(folder)))
		os.Remove(folder + lockSuffix)
		lock.Close()
	}
}

// lockFile opens a file or folder and takes its lock, or fails at once.
func lockFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return f, nil
}

// makeFolder makes a folder unless it is there. What is missing above it is made
// too.
func (w *workspace) makeFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.made = append(w.made, path)
		return os.MkdirAll(path, 0o777)
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// mostRemovals bounds how often a folder is emptied that somebody writes to.
const mostRemovals = 100

// removeFolder removes a folder with all that is in it. What a runner has given up may
// write one more file while the folder is emptied, which then cannot be removed.
func removeFolder(path string) {
	for range mostRemovals {
		if err := os.RemoveAll(path); !errors.Is(err, syscall.ENOTEMPTY) {
			return
		}
	}
}

// sweep removes the run's folders, and those it made for them or for results
// that were not published.
func (w *workspace) sweep() {
	for _, folder := range []string{w.partial, w.temp} {
		if folder != "" {
			removeFolder(folder)
		}
	}
	if w.temp != "" {
		os.Remove(w.temp + lockSuffix)
	}
	for _, lock := range w.locks {
		lock.Close()
	}
	// This fails, as it should, where something is in the folder. The one beside
	// the output goes in any case: a run that died may have left it.
	for _, folder := range append(w.made, w.output+tempSuffix) {
		os.Remove(folder)
	}
}

// manifest lists what a job has published.
type manifest struct {
	Files []output.File `json:"files"`
}

// publish checks the finished files, writes the manifest, the summary and the
// mark of success beside them, and gives all of them their names, the mark last.
// The results of an earlier job go before that, their mark of success first. So
// a disk that is full leaves everything as it was; should a name be refused all
// the same, no result stays.
func (w *workspace) publish(files []output.File, summary Summary) error {
	for _, file := range files {
		info, err := os.Stat(file.Temporary)
		if err != nil {
			return fmt.Errorf("check %s: %w", file.Name, err)
		}
		if info.Size() != file.Bytes {
			return fmt.Errorf("check %s: it has %d bytes, %d were written", file.Name, info.Size(), file.Bytes)
		}
	}
	// First the manifest: by it another job finds what one that died in between
	// has published.
	paths, names := []string{filepath.Join(w.partial, manifestName)}, []string{manifestName}
	for i := range files {
		paths, names = append(paths, files[i].Temporary), append(names, files[i].Name)
		files[i].Temporary = ""
	}
	if err := w.writeJSON(manifestName, manifest{files}); err != nil {
		return err
	}
	if err := w.writeJSON(summaryName, summary); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.partial, successName), nil, 0o666); err != nil {
		return fmt.Errorf("write %s: %w", successName, err)
	}
	for _, name := range []string{summaryName, successName} {
		paths, names = append(paths, filepath.Join(w.partial, name)), append(names, name)
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(w.output, name)); err == nil && info.IsDir() {
			return fmt.Errorf("publish: in the output folder %s there is a folder by the name of %s: move it away", w.output, name)
		}
	}
	if err := w.removeEarlier(); err != nil {
		return err
	}
	for i := range paths {
		if err := os.Rename(paths[i], filepath.Join(w.output, names[i])); err != nil {
			for _, name := range names[:i] {
				os.Remove(filepath.Join(w.output, name))
			}
			return fmt.Errorf("publish: %w", err)
		}
	}
	return nil
}

// removeEarlier removes the files that an earlier job has listed in its
// manifest, and no others.
func (w *workspace) removeEarlier() error {
	remove := func(name string) error {
		if err := os.Remove(filepath.Join(w.output, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove earlier results: %w", err)
		}
		return nil
	}
	if err := remove(successName); err != nil {
		return err
	}
	names, err := w.earlier()
	if err != nil {
		return fmt.Errorf("remove earlier results: %w", err)
	}
	for _, name := range names {
		if err := remove(name); err != nil {
			return err
		}
	}
	return nil
}

// earlier returns the files of an earlier job that its manifest tells of, the
// manifest last.
func (w *workspace) earlier() ([]string, error) {
	b, err := os.ReadFile(filepath.Join(w.output, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var listed manifest
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(b))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&listed)
	}
	if err == nil && len(listed.Files) == 0 {
		err = errors.New("it lists no file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not that of a job: %w", manifestName, err)
	}
	var names []string
	for _, file := range listed.Files {
		names = append(names, filepath.Base(file.Name))
	}
	return append(names, summaryName, manifestName), nil
}

// unfinished returns the files of a job that died while it published them, or
// while it removed those of an earlier one: they have no mark of success.
func (w *workspace) unfinished() []string {
	if _, err := os.Stat(filepath.Join(w.output, successName)); err == nil {
		return nil
	}
	names, err := w.earlier()
	if err != nil {
		return nil // then the folder is somebody else's
	}
	return names
}

// writeJSON writes a file that is to be published.
func (w *workspace) writeJSON(name string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(w.partial, name), append(b, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
