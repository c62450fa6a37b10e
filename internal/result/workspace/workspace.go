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

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
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
	// Temp is the run's folder of temporary files, an absolute path. Only the user may enter it.
	Temp string
	// Partial is the run's folder of unpublished results, in Output. Only the user may enter it.
	Partial string
	// Resumed says that the folders belong to a dead run, with all that it has done. Outdated says that a dead run
	// was kept, but has another recipe, or has lost its files.
	Resumed, Outdated bool

	token string
	// output is the output folder, and temp the folder of temporary files, once they are opened.
	output driver
	temp   tempDriver
	disk   disk     // of folders on the local disk
	made   []string // folders that were missing; they are removed if they are empty
	usual  string   // folder of temporary files, which dead runs may have left empty
	// isInterrupted says that the next job needs the files in Partial.
	isInterrupted bool
	// recipe is the recipe of the options. isKept says that a later run may take up the folders.
	recipe string
	isKept bool
	// isHandedOver says that a cluster works on the job of the run, and needs both folders.
	isHandedOver bool
}

// driver does with an output folder what depends on where it is: on the local disk, or in a bucket. The run holds the
// lock of the folder, or its lease.
type driver interface {
	entries() ([]entry, error)
	// tokens returns the tokens of the runs that have left something.
	tokens() ([]string, error)
	// claim reports whether a run of that token is dead, and has made what bears its token. If nothing proves that,
	// claim removes what is empty, and leaves the rest.
	claim(token string) (bool, error)
	// recover finishes what a dead run has begun to publish, and removes what it has left.
	recover(token string) error
	// earlier looks for the results of earlier jobs.
	earlier() (earlier, error)

	// partial is the folder of a run's results that are not published yet. begin makes it.
	partial(token string) string
	begin(r record) error
	// write makes a file of the run. publish gives the files of a run their names.
	write(path string, content []byte) error
	publish(p publication) (isInterrupted bool, err error)
	// close gives the folder back. It removes what the run has not published, unless that is needed.
	close(token string, isNeeded bool)
}

type entry struct {
	name     string
	isFolder bool
}

// tempDriver does the same with a run's folder of temporary files: close removes it, unless it is needed.
type tempDriver interface{ close(isNeeded bool) }

// Open makes the run's folders and clears away what dead runs have left in them. The error says which folder
// is at fault, what is wrong with it, and what to do.
func Open(options Options) (*Workspace, error) { return open(options, disk{}) }

func open(options Options, d disk) (_ *Workspace, err error) {
	w := &Workspace{disk: d, token: rand.Text(), usual: job.UsualTemp(options.Output), recipe: options.Recipe}
	shown := options.Output
	if storage.Scheme(shown) == "" {
		shown = filepath.Clean(shown)
	}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	err = w.openOutput(options.Output, true)
	if held := heldBy(shown, err); held != nil {
		return nil, fmt.Errorf("another job is writing to the output folder: wait for it, or give another folder: %w",
			held)
	}
	if err != nil {
		return nil, unusable(shown, err)
	}
	err = w.recoverRuns()
	if handed, is := errors.AsType[*HandedOverError](err); is {
		return nil, handed
	}
	if err != nil {
		return nil, fmt.Errorf(
			"what an earlier job left of its work on the output folder %s cannot be cleared away: %w: "+
				"remove the cause, and run the job again", shown, err)
	}
	if err := w.checkOutput(shown, options.Overwrite); err != nil {
		return nil, err
	}
	if w.Resumed {
		return w, nil
	}
	if err := w.openTempFolder(options.Temp); err != nil {
		return nil, err
	}
	w.Partial = w.output.partial(w.token)
	if err := w.output.begin(w.record()); err != nil {
		return nil, unusable(shown, err)
	}
	return w, nil
}

// heldBy returns who has the lock or the lease of a folder, nil if the error does not say that somebody has.
func heldBy(folder string, err error) *storage.HeldError {
	held, is := errors.AsType[*storage.HeldError](err)
	if !is && errors.Is(err, syscall.EWOULDBLOCK) {
		return &storage.HeldError{Name: folder, Holder: "another process"}
	}
	return held
}

// openOutput takes the lock or the lease of the output folder. On the disk it makes the folder if it may.
func (w *Workspace) openOutput(name string, mayMake bool) error {
	if storage.Scheme(name) != "" {
		b, err := leaseBucket(name, w.token)
		if err == nil {
			w.output, w.Output = b, b.folder
		}
		return err
	}
	// Tasks may run in processes with another working folder.
	path, err := filepath.Abs(name)
	if err == nil && mayMake {
		w.made, err = makeFolder(path, 0o777)
	}
	if err != nil {
		return err
	}
	f, err := lockFolder(w.disk, path)
	if err == nil {
		w.output, w.Output = f, f.path
	}
	return err
}

// Token is random text of the run, which is part of the names of its folders.
func (w *Workspace) Token() string { return w.token }

func (w *Workspace) record() record { return record{w.token, w.Output, w.Temp} }

// recoverRuns clears away what dead runs have left in the output folder and next to it. It finishes what they had begun
// to publish, unless it resumes one.
func (w *Workspace) recoverRuns() error {
	tokens, err := w.output.tokens()
	if err != nil {
		return err
	}
	for _, token := range tokens {
		partial := w.output.partial(token)
		if is, err := w.output.claim(token); err != nil {
			return err
		} else if !is {
			continue
		}
		if is, err := isHandedOver(partial); err != nil {
			return err
		} else if is {
			return &HandedOverError{w.Output}
		}
		resumed, err := w.resume(token, partial)
		if err == nil && !resumed {
			err = w.output.recover(token)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Check returns the error with which [Open] would refuse an output folder for its content. It changes nothing.
func Check(output string, overwrite bool) error {
	w := &Workspace{}
	if storage.Scheme(output) != "" {
		s, err := storage.Of(output)
		if err != nil {
			return unusable(output, err)
		}
		w.output = &bucket{storage: s, folder: strings.TrimRight(output, "/")}
		return w.checkOutput(output, overwrite)
	}
	path, err := filepath.EvalSymlinks(output)
	_, notLink := os.Readlink(output)
	if errors.Is(err, fs.ErrNotExist) && notLink != nil {
		return nil // it will be made
	}
	if err == nil {
		_, err = os.ReadDir(path)
	}
	if err != nil {
		return unusable(output, err)
	}
	w.output = &folder{target: target{disk{}, path}}
	return w.checkOutput(filepath.Clean(output), overwrite)
}

func unusable(output string, err error) error {
	return setting.Errorf("the output folder %s cannot be used: %w: name another one with {output}", output, err)
}

func (w *Workspace) checkOutput(shown string, overwrite bool) error {
	old, err := w.output.earlier()
	if _, is := errors.AsType[foreignError](err); is {
		return fmt.Errorf(
			"the output folder %s contains a file that no job has written: %w: give another folder, "+
				"or move the file away", shown, err)
	}
	if _, is := errors.AsType[damagedError](err); is {
		return fmt.Errorf(
			"in the output folder %s the file %s is damaged, as a power cut leaves it, "+
				"so nothing tells which files a job has written (%w): give another folder, "+
				"or move this one away and run the job again", shown, ManifestName, err)
	}
	if err != nil {
		return fmt.Errorf(
			"the results of an earlier job in the output folder %s cannot be read: %w: remove the cause, "+
				"and run the job again", shown, err)
	}
	if overwrite {
		return nil
	}
	entries, err := w.output.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		isUnfinished := !old.whole && old.has(e.name, e.isFolder)
		if !isUnfinished && e.name != leaseName && !strings.HasPrefix(e.name, partialPrefix) {
			return setting.Errorf(
				"the output folder %s is not empty (it contains %s): give another one, "+
					"or {overwrite} to replace the results of an earlier job", shown, e.name)
		}
	}
	return nil
}

func runTokens(entries []entry) (tokens []string) {
	for _, e := range entries {
		if token, is := strings.CutPrefix(e.name, partialPrefix+runPrefix); is && e.isFolder && isToken(token) {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// Close removes the run's folders and gives the locks back. It also removes each folder that it made for them, if that
// is empty. It leaves the folders as they are if a cluster works on the job, or if the run is to be resumed.
func (w *Workspace) Close() {
	isNeeded := w.isHandedOver || w.isKept
	if w.temp != nil {
		w.temp.close(isNeeded)
	}
	if w.output != nil {
		w.output.close(w.token, isNeeded || w.isInterrupted || w.Partial == "")
	}
	// The usual folder of temporary files is removed even if this run did not make it, if it is empty: a dead
	// run may have left it.
	for _, folder := range slices.Backward(append(w.made, w.usual)) {
		if storage.Scheme(folder) == "" {
			_ = removeEmpty(folder)
		}
	}
}

func (w *Workspace) openTempFolder(parent string) (err error) {
	if storage.Scheme(parent) == "" {
		err = w.openTemp(parent)
	} else if b, held := openBucketTemp(parent, w.token, w.Output); held == nil {
		w.temp, w.Temp = b, b.folder
	} else {
		err = held
	}
	if err != nil {
		return setting.Errorf("the temporary folder %s cannot be used: %w: name another one with {temp}", parent, err)
	}
	return nil
}

// openTemp makes the run's own folder of temporary files. It first takes a lock next to the folder. The lock
// tells other runs that this run is alive.
func (w *Workspace) openTemp(parent string) error {
	// Another run may have made the parent, and may just be removing it.
	for range 3 {
		err := w.makeTemp(parent)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.makeTemp(parent)
}

func (w *Workspace) makeTemp(parent string) error {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return err
	}
	made, err := makeFolder(parent, 0o755)
	w.made = append(w.made, made...)
	if err != nil {
		return err
	}
	if err := storage.CheckFolder(parent); err != nil {
		return err
	}
	sweeper{w.disk, w.Output}.clearTemp(parent)
	temp := filepath.Join(parent, runPrefix+w.token)
	lock, err := storage.Lock(temp+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	w.Temp, w.temp = temp, &tempFolder{w.disk, temp, lock}
	if _, err := lock.Write(w.record().encode()); err != nil {
		return err
	}
	if err := w.record().mark(w.disk, temp); err != nil {
		return err
	}
	return checkRoom(temp)
}

// tempFolder is a run's folder of temporary files on the local disk, with the lock next to it.
type tempFolder struct {
	disk disk
	path string
	lock *os.File
}

func (f *tempFolder) close(isNeeded bool) {
	if !isNeeded && f.disk.removeFolder(f.path) == nil {
		_ = f.disk.remove(f.path + lockSuffix) // kept otherwise: it leads the next job to the folder
	}
	f.lock.Close()
}
