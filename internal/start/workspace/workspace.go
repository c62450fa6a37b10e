// Package workspace holds the folders of a run: the folder of its temporary files, the folder of its
// unpublished results, and the output folder in which it publishes them. Jobs that use the same folders do
// not get in each other's way. A run clears away what dead runs have left, and never anything else.
package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/job"
)

// Options says where a run works.
type Options struct {
	// Output is the folder for the results. It is made if it is missing.
	Output string
	// Temp is the folder in which the run makes its own folder of temporary files.
	Temp string
	// Overwrite allows an output folder that is not empty. Results of an earlier job in it are replaced.
	// Other files are left alone.
	Overwrite bool
	// Recipe, if not empty, identifies all that the run is to do. The run takes up a dead run of the same recipe and
	// output folder, if that was kept; see [Workspace.Keep].
	Recipe string
}

// Workspace is the folders of one run. It holds their locks.
type Workspace struct {
	// Output is where the results are published, an absolute path without links.
	Output string
	// Temp is the run's folder of temporary files, an absolute path. Only the user
	// may enter it.
	Temp string
	// Partial is the run's folder of unpublished results, in Output. Only the user may enter it.
	Partial string
	// Resumed says that the folders are those of a dead run, with all that it has done. Outdated says that a dead run
	// was kept, but has another recipe, or has lost its files.
	Resumed, Outdated bool

	disk  disk
	token string
	locks []*os.File
	made  []string // folders that were missing; they are removed if they are empty
	usual string   // folder of temporary files, which dead runs may have left empty
	// isInterrupted says that the next job needs the files in Partial.
	isInterrupted bool
	// recipe is that of the options. isKept says that a later run may take up the folders.
	recipe string
	isKept bool
	// isHandedOver says that a cluster works on the job of the run, and needs both folders.
	isHandedOver bool

	// bucket is set if the output is not on the local disk, and bucketTemp if the temporary files are not.
	bucket     *bucket
	bucketTemp *bucketTemp
}

// Open makes the run's folders and clears away what dead runs have left in them. The error says which folder
// is at fault, what is wrong with it, and what to do.
func Open(options Options) (*Workspace, error) { return open(options, disk{}) }

func open(options Options, d disk) (_ *Workspace, err error) {
	w := &Workspace{disk: d, token: rand.Text(), usual: job.UsualTemp(options.Output), recipe: options.Recipe}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	unusable := func(err error) error {
		return setting.Errorf("the output folder %s cannot be used: %w: name another one with {output}", filepath.Clean(options.Output), err)
	}
	if storage.Scheme(options.Output) != "" {
		if err := w.openBucket(options); err != nil {
			return nil, err
		}
		if w.Resumed {
			return w, nil
		}
		return w, w.openTempFolder(options.Temp)
	}
	if err := w.openOutput(options.Output); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("another job is writing to the output folder %s: wait for it, or give another folder", filepath.Clean(options.Output))
	} else if err != nil {
		return nil, unusable(err)
	}
	err = w.recoverOutput()
	if handed, is := errors.AsType[*HandedOverError](err); is {
		return nil, handed
	}
	if err != nil {
		return nil, fmt.Errorf("what an earlier job left of its work on the output folder %s cannot be cleared away: %w: remove the cause, and run the job again", filepath.Clean(options.Output), err)
	}
	if err := w.checkOutput(options); err != nil {
		return nil, err
	}
	if w.Resumed {
		return w, nil
	}
	if err := w.openTempFolder(options.Temp); err != nil {
		return nil, err
	}
	partial := w.target().partial(w.token)
	if err := w.record().mark(w.disk, partial); err != nil {
		os.Remove(partial)
		return nil, unusable(err)
	}
	w.Partial = partial
	if err := checkRoom(partial); err != nil {
		return nil, unusable(err)
	}
	return w, nil
}

// openBucket opens an output folder that is not on the local disk.
func (w *Workspace) openBucket(options Options) (err error) {
	w.bucket, err = w.recoverBucket(options.Output)
	if held, isHeld := errors.AsType[*storage.HeldError](err); isHeld {
		return fmt.Errorf("another job is writing to the output folder %s (%s): wait for it, or give another folder", options.Output, held.Holder)
	}
	if handed, is := errors.AsType[*HandedOverError](err); is {
		return handed
	}
	if err != nil {
		return setting.Errorf("the output folder %s cannot be used: %w: name another one with {output}", options.Output, err)
	}
	w.Partial = w.bucket.partial(w.token)
	return w.bucket.check(options.Overwrite)
}

// Token is random text of the run, which is part of the names of its folders.
func (w *Workspace) Token() string { return w.token }

func (w *Workspace) target() target { return target{w.disk, w.Output} }

func (w *Workspace) record() record { return record{w.token, w.Output, w.Temp} }

// openOutput makes the output folder and locks it. It makes the path absolute, since tasks may run in
// processes with another working folder.
func (w *Workspace) openOutput(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := w.makeFolder(path, 0o777); err != nil {
		return err
	}
	// The folder that replaces this one must be beside the folder itself, not beside a link to it.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	if _, err := os.ReadDir(path); err != nil {
		return err
	}
	lock, err := storage.Lock(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	w.Output, w.locks = path, append(w.locks, lock)
	return nil
}

// recoverOutput clears away what dead runs have left in the output folder and beside it. It finishes what
// they had begun to publish.
func (w *Workspace) recoverOutput() error {
	tokens, err := w.target().tokens()
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if err := w.recoverRun(token); err != nil {
			return err
		}
	}
	return nil
}

// recoverRun clears away what a run has left, unless the run is alive.
func (w *Workspace) recoverRun(token string) error {
	t := w.target()
	r, is := t.recordOf(token)
	if !is {
		return t.removeUnmarked(token)
	}
	lock, err := storage.Lock(r.lock(), os.O_RDWR)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	if err == nil {
		lock.Close()
	}
	if is, err := isHandedOver(t.partial(token)); err != nil {
		return err
	} else if is {
		return &HandedOverError{t.path}
	}
	if resumed, err := w.resume(token, t.partial(token)); resumed || err != nil {
		return err
	}
	if err := t.recover(token); err != nil {
		return err
	}
	w.clearLock(r.lock(), token)
	return nil
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

// tokens returns the tokens of the runs that have marks in the folder or have published its results.
func (t target) tokens() (tokens []string, err error) {
	entries, err := os.ReadDir(t.path)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		token, is := strings.CutPrefix(entry.Name(), partialPrefix+runPrefix)
		if is && isToken(token) && entry.IsDir() {
			tokens = append(tokens, token)
		}
	}
	// A foreign manifest is a fault that a later check finds.
	if m, err := t.disk.readManifest(t.path); err == nil && m.Token != "" {
		tokens = append(tokens, m.Token)
	}
	return tokens, nil
}

// checkOutput refuses an output folder with files that may not be replaced.
func (w *Workspace) checkOutput(options Options) error {
	shown := filepath.Clean(options.Output)
	old, err := w.target().earlier()
	if err != nil {
		return fmt.Errorf("the output folder %s holds what no job has written: %w: give another folder, or move the file away", shown, err)
	}
	if options.Overwrite {
		return nil
	}
	entries, err := os.ReadDir(w.Output)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		isUnfinished := !old.whole && old.has(entry.Name())
		if !isUnfinished && !strings.HasPrefix(entry.Name(), partialPrefix) {
			return setting.Errorf("the output folder %s is not empty (it holds %s): give another one, or {overwrite} to replace the results of an earlier job", shown, entry.Name())
		}
	}
	return nil
}

// longestName is at least the length in bytes of every name that a run gives a file in its folders.
const longestName = 64

// checkRoom refuses a folder whose path is so long that its files cannot be named.
func checkRoom(folder string) error {
	_, err := os.Lstat(filepath.Join(folder, strings.Repeat("x", longestName)))
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("its path is too long, the files in it would have one of %d bytes: %w", len(folder)+1+longestName, syscall.ENAMETOOLONG)
	}
	return nil
}

// makeFolder makes a folder and all missing folders above it. An existing folder is left as it is.
func (w *Workspace) makeFolder(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if target, err := os.Readlink(path); err == nil {
		return fmt.Errorf("it is a symbolic link to %s, which does not exist", target)
	}
	err = os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := w.makeFolder(filepath.Dir(path), mode); err != nil {
			return err
		}
		err = os.Mkdir(path, mode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // another run has just made it
	}
	if err == nil {
		w.made = append(w.made, path)
	}
	return err
}

// Close removes the run's folders and gives the locks back. It also removes each folder that it made for
// them, if that is empty. It leaves the folders as they are if a cluster works on the job, or if the run is to be resumed.
func (w *Workspace) Close() {
	isNeeded := w.isHandedOver || w.isKept
	if w.bucket != nil {
		w.bucket.close(w.isInterrupted || isNeeded)
		w.Partial = ""
	}
	if w.bucketTemp != nil {
		w.bucketTemp.close(isNeeded)
		w.Temp = ""
	}
	if isNeeded {
		w.Partial, w.Temp = "", ""
	}
	if w.Partial != "" && !w.isInterrupted {
		_ = w.disk.removeFolder(w.Partial)
	}
	if w.Temp != "" {
		if err := w.disk.removeFolder(w.Temp); err == nil {
			os.Remove(w.Temp + lockSuffix) // kept otherwise: it leads the next job to the folder
		}
	}
	for _, lock := range w.locks {
		lock.Close()
	}
	// The usual folder of temporary files is removed even if this run did not make it, if it is empty: a dead
	// run may have left it.
	for _, folder := range slices.Backward(append(w.made, w.usual)) {
		if storage.Scheme(folder) == "" {
			_ = removeEmpty(folder)
		}
	}
}
