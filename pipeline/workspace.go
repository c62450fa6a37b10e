package pipeline

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if err := w.makeFolder(w.output); err != nil {
		return nil, fmt.Errorf("open output folder: %w", err)
	}
	entries, err := os.ReadDir(w.output)
	if err != nil {
		w.sweep()
		return nil, fmt.Errorf("open output folder: %w", err)
	}
	lock, err := lockFile(w.output, os.O_RDONLY)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		w.sweep()
		return nil, fmt.Errorf("another job is writing to the output folder %s: wait for it, or give another folder", w.output)
	} else if err != nil {
		w.sweep()
		return nil, fmt.Errorf("open output folder: %w", err)
	}
	w.locks = append(w.locks, lock)
	for _, entry := range entries {
		if !config.Overwrite && !strings.HasPrefix(entry.Name(), partialPrefix) {
			w.sweep()
			return nil, fmt.Errorf("the output folder %s is not empty (it holds %s): give another one, or --overwrite to replace the results of an earlier job", w.output, entry.Name())
		}
	}
	if w.parent = config.Temp; w.parent == "" {
		w.parent = w.output + tempSuffix
	}
	if err := w.openTemp(); err != nil {
		w.sweep()
		return nil, err
	}
	// Tasks may run in processes with another working folder.
	for _, path := range []*string{&w.temp, &w.output} {
		if *path, err = filepath.Abs(*path); err != nil {
			w.sweep()
			return nil, fmt.Errorf("open output folder: %w", err)
		}
	}
	w.partial = filepath.Join(w.output, partialPrefix+filepath.Base(w.temp))
	if err := os.Mkdir(w.partial, 0o777); err != nil {
		w.sweep()
		return nil, fmt.Errorf("open output folder: %w", err)
	}
	return w, nil
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
		return fmt.Errorf("open temporary folder: %w", err)
	}
	w.clearDead()
	temp := filepath.Join(w.parent, runPrefix+rand.Text())
	lock, err := lockFile(temp+lockSuffix, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("lock temporary folder: %w", err)
	}
	w.locks = append(w.locks, lock)
	w.temp = temp
	if err := os.Mkdir(temp, 0o777); err != nil {
		return fmt.Errorf("open temporary folder: %w", err)
	}
	return nil
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
		os.RemoveAll(folder)
		os.RemoveAll(filepath.Join(w.output, partialPrefix+filepath.Base(folder)))
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
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		w.made = append(w.made, path)
		err = os.MkdirAll(path, 0o777)
	}
	return err
}

// sweep removes the run's folders, and those it made for them or for results
// that were not published.
func (w *workspace) sweep() {
	for _, folder := range []string{w.partial, w.temp} {
		if folder != "" {
			os.RemoveAll(folder)
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

// tempBytes returns how much the temporary folder holds.
func (w *workspace) tempBytes() int64 {
	total := int64(0)
	entries, _ := os.ReadDir(w.temp)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
	}
	return total
}

// manifest lists what a job has published.
type manifest struct {
	Files []output.File `json:"files"`
}

// publish checks the finished files, gives them their names and writes the
// manifest, the summary and, last, the mark of success. The results of an
// earlier job go first, their mark of success before all.
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
	if err := w.removeEarlier(); err != nil {
		return err
	}
	for i := range files {
		if err := os.Rename(files[i].Temporary, filepath.Join(w.output, files[i].Name)); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
		files[i].Temporary = ""
	}
	if err := w.writeJSON(manifestName, manifest{files}); err != nil {
		return err
	}
	if err := w.writeJSON(summaryName, summary); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.output, successName), nil, 0o666); err != nil {
		return fmt.Errorf("publish: %w", err)
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
	b, err := os.ReadFile(filepath.Join(w.output, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var earlier manifest
	if err == nil {
		err = json.Unmarshal(b, &earlier)
	}
	if err != nil {
		return fmt.Errorf("remove earlier results: read manifest: %w", err)
	}
	for _, file := range earlier.Files {
		if err := remove(filepath.Base(file.Name)); err != nil {
			return err
		}
	}
	return errors.Join(remove(summaryName), remove(manifestName))
}

// writeJSON writes a file of the output folder in one step.
func (w *workspace) writeJSON(name string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	partial := filepath.Join(w.partial, name)
	if err == nil {
		err = os.WriteFile(partial, append(b, '\n'), 0o666)
	}
	if err == nil {
		err = os.Rename(partial, filepath.Join(w.output, name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
