package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
)

// target is an output folder. The run holds its lock.
type target struct {
	disk disk
	path string
}

func (t target) at(name string) string { return filepath.Join(t.path, name) }

// partial returns where a run keeps its results before they are published.
func (t target) partial(token string) string { return t.at(partialPrefix + runPrefix + token) }

// staging returns the folder, next to the target on the same disk, in which a run builds the new target.
func (t target) staging(token string) string {
	return filepath.Join(filepath.Dir(t.path), stagingPrefix+runPrefix+token)
}

// move is a file in the folder of partial results, with the name that it gets.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// publication is the results of a run on their way into the target.
type publication struct {
	target
	token string
	// moves are all new files. The manifest comes first, since it identifies results that are not whole. The
	// mark of success comes last.
	moves []move
	old   earlier
	locks []*os.File
}

func (p publication) from(m move) string { return filepath.Join(p.partial(p.token), m.From) }

// errInterrupted says that perhaps neither the old results nor the new ones are whole. The folder of partial
// results has all that is needed to go on.
var errInterrupted = setting.Errorf(
	"it stopped half-way: run the job again with the same {output}, which finishes this first")

// publish replaces the old results with the new ones. If it returns no error, all new results are in place.
// If it returns one, the target is as it was, except for errInterrupted.
func (p *publication) publish() error {
	if !p.old.whole {
		return p.publishFirst()
	}
	err := p.publishByExchange()
	if err == nil || !errors.Is(err, errNotExchanged) {
		return err
	}
	return p.publishByJournal()
}

// publishFirst publishes if there are no whole results. It removes what a dead job has left. Then it gives
// each file its name, the mark of success last.
func (p publication) publishFirst() error {
	if err := p.removeFiles(p.old.names); err != nil {
		return fmt.Errorf("remove what an earlier job left: %w", err)
	}
	before := ""
	for i, m := range p.moves {
		var err error
		if m.To == SuccessName {
			err = p.syncFolders(p.names())
		}
		if err == nil {
			err = p.makeRoom(m.To, before)
		}
		if err == nil {
			err = p.disk.rename(p.from(m), p.at(m.To))
		}
		if err != nil {
			return errors.Join(err, p.removeParents(m.To), p.takeBack(i))
		}
		before = m.To
	}
	if err := p.disk.sync(p.path); err != nil {
		return errors.Join(err, p.takeBack(len(p.moves)))
	}
	return nil
}

// takeBack removes the first n new files. The manifest goes last.
func (p publication) takeBack(n int) (err error) {
	for i := n - 1; i >= 0; i-- {
		err = errors.Join(err, p.removeFile(p.moves[i].To), p.removeParents(p.moves[i].To))
	}
	return err
}

// removeFiles removes results, and the folders of trees that they leave empty.
func (t target) removeFiles(names []string) error {
	for i, name := range names {
		err := t.removeFile(name)
		// of the names side by side in a folder
		if isLast := i == len(names)-1 || path.Dir(names[i+1]) != path.Dir(name); isLast {
			err = errors.Join(err, t.removeParents(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a result, unless a folder has taken its name.
func (t target) removeFile(name string) error {
	info, err := t.disk.lstat(t.at(name))
	if err != nil || info == nil || info.IsDir() {
		return err
	}
	return t.disk.removeIn("remove", t.path, name)
}

// prepare checks the finished files, and writes the manifest, the summary and the mark of success next to them. It
// returns the names that all of them get.
func (w *Workspace) prepare(files []output.File, summary any) ([]move, error) {
	found, err := Listed(w.Partial)
	if err != nil {
		return nil, fmt.Errorf("check the results: %w", err)
	}
	moves := []move{{ManifestName, ManifestName}}
	for i, file := range files {
		info, is := found[storage.Join(w.Partial, file.Temporary)]
		if !is {
			return nil, fmt.Errorf("check %s: %w", file.Name, fs.ErrNotExist)
		}
		if info.Size != file.Bytes {
			return nil, fmt.Errorf("check %s: it has %d bytes, %d were written", file.Name, info.Size, file.Bytes)
		}
		moves = append(moves, move{file.Temporary, file.Name})
		files[i].Temporary = ""
	}
	for _, made := range []struct {
		name  string
		value any
	}{{ManifestName, Manifest{w.token, files}}, {SummaryName, summary}, {SuccessName, nil}} {
		var content []byte
		if made.value != nil {
			content, err = json.MarshalIndent(made.value, "", "  ")
			content = append(content, '\n')
		}
		if err == nil {
			err = w.output.write(storage.Join(w.Partial, made.name), content)
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", made.name, err)
		}
	}
	return append(moves, move{SummaryName, SummaryName}, move{SuccessName, SuccessName}), nil
}

// Listed returns the files in a folder and below it, by their full names.
func Listed(folder string) (map[string]storage.Info, error) {
	s, err := storage.Of(folder)
	if err != nil {
		return nil, err
	}
	found := map[string]storage.Info{}
	for info, err := range s.List(folder) {
		if err != nil {
			return nil, err
		}
		found[info.Name] = info
	}
	return found, nil
}

// checkNames refuses names that foreign files or folders have.
func (w *Workspace) checkNames(p publication) error {
	entries, err := w.output.entries()
	if err != nil {
		return err
	}
	isFolder := map[string]bool{}
	for _, e := range entries {
		isFolder[e.name] = e.isFolder
	}
	for _, m := range p.moves {
		top, _, inTree := strings.Cut(m.To, "/")
		switch folder, isThere := isFolder[top]; {
		case folder && !(inTree && p.old.has(top, true)):
			return fmt.Errorf("in the output folder %s there is a folder by the name of %s: move it away", w.Output,
				top)
		case isThere && !folder && (inTree || !p.old.has(top, false)):
			return fmt.Errorf("in the output folder %s there is a file %s that no job has written: move it away",
				w.Output, top)
		}
	}
	return nil
}

// Publish gives the finished files their names in the output folder. Next to them it writes a manifest, the
// summary as JSON and the mark of success. It removes the results of an earlier job.
//
// If it returns no error, the new results are complete in the output folder and on the device. If it returns
// one, the folder is as it was, unless the error says otherwise.
func (w *Workspace) Publish(files []output.File, summary any) (err error) {
	wasKept := w.isKept
	if err := w.release(); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	defer func() {
		if err != nil && wasKept && !w.isInterrupted {
			err = errors.Join(err, w.Keep())
		}
	}()
	p := publication{token: w.token}
	if p.moves, err = w.prepare(files, summary); err != nil {
		return err
	}
	if p.old, err = w.output.earlier(); err == nil {
		err = w.checkNames(p)
	}
	if err == nil {
		w.isInterrupted, err = w.output.publish(p)
	}
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func (t target) recover(token string) error {
	if err := t.settle(token); err != nil {
		return err
	}
	partial := t.partial(token)
	if _, is := marked(partial, token); is {
		if err := t.finishJournal(token); err != nil {
			return err
		}
	}
	return removeMarked(t.disk, partial, token)
}

// folder is an output folder on the local disk. The run holds its lock.
type folder struct {
	target

	locks []*os.File // locks of folders that have had the name of the output folder
}

func lockFolder(d disk, path string) (*folder, error) {
	// The folder that replaces this one must be next to the folder itself, not next to a link to it.
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
	if err := errors.Join(f.disk.syncAll(f.partial(p.token), paths), f.disk.sync(f.partial(p.token))); err != nil {
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

// recordOf returns what a run has recorded in the target or next to it. Only runs of the same user count:
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
		return fmt.Errorf("its path is too long, the files in it would have one of %d bytes: %w",
			len(folder)+1+longestName, syscall.ENAMETOOLONG)
	}
	return nil
}

// The outputs of a job in the layout [output.Tree] are folders in the output folder. A result in such a folder has a
// name with slashes. Its folders are made when it gets the name, and go with the last file in them. So all in a tree is
// of the job: results in a tree to which somebody has added a file are not replaced.

func trees(names []string) (folders []string) {
	for _, name := range names {
		if tree, _, inTree := strings.Cut(name, "/"); inTree && !slices.Contains(folders, tree) {
			folders = append(folders, tree)
		}
	}
	return folders
}

// foldersOf returns all folders of the trees that hold results with these names, the outer ones first.
func foldersOf(names []string) []string {
	known := map[string]bool{}
	for _, name := range names {
		for folder := path.Dir(name); folder != "." && !known[folder]; folder = path.Dir(folder) {
			known[folder] = true
		}
	}
	folders := make([]string, 0, len(known))
	for folder := range known {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders
}

func unlisted(name string) error {
	return foreign("in the folder of an output there is %s, which %s does not list", name, ManifestName)
}

// checkTrees returns an error if there is something else in the trees than results with these names.
func (t target) checkTrees(names []string) error {
	isResult := map[string]bool{}
	for _, name := range slices.Concat(names, foldersOf(names)) {
		isResult[name] = true
	}
	for _, tree := range trees(names) {
		err := filepath.WalkDir(t.at(tree), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(t.path, path) // the path is below that of the target
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !isResult[name] || !entry.IsDir() && !entry.Type().IsRegular():
				return unlisted(name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p publication) names() []string {
	names := make([]string, len(p.moves))
	for i, m := range p.moves {
		names[i] = m.To
	}
	return names
}

// makeRoom makes the folders of a new result in a tree, unless they were made for the one before it. Nothing may have
// its name: two names may be one where capital letters do not count.
func (t target) makeRoom(name, before string) error {
	if !output.IsTreeName(name) {
		return nil
	}
	if t.disk.exists(t.at(name)) {
		return &os.PathError{Op: "publish", Path: t.at(name), Err: syscall.EEXIST}
	}
	if path.Dir(name) == path.Dir(before) {
		return nil
	}
	return t.disk.mkdirIn(t.path, path.Dir(name))
}

// removeParents removes the folders of a tree that a result has left empty, the inner ones first.
func (t target) removeParents(name string) error {
	if !output.IsTreeName(name) {
		return nil
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		err := t.disk.removeIn("rmdir", t.path, folder)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// syncFolders waits until the names of results are on the device: in the folders of their trees, and in the target.
func (t target) syncFolders(names []string) error {
	for _, folder := range slices.Backward(foldersOf(names)) {
		// of results that may be missing
		if err := t.disk.sync(t.at(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return t.disk.sync(t.path)
}
