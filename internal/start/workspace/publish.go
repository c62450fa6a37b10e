package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/setting"
)

// target is an output folder. The run holds its lock.
type target struct {
	disk disk
	path string
}

func (t target) at(name string) string { return filepath.Join(t.path, name) }

// partial returns where a run keeps its results before they are published.
func (t target) partial(token string) string { return t.at(partialPrefix + runPrefix + token) }

// staging returns where a run builds the folder that will replace the target. It is beside the target, on the
// same disk.
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
	// locks are the locks of folders that get the target's name.
	locks []*os.File
}

func (p publication) from(m move) string { return filepath.Join(p.partial(p.token), m.From) }

// errInterrupted says that perhaps neither the old results nor the new ones are whole. The folder of partial
// results has all that is needed to go on.
var errInterrupted = setting.Errorf("it stopped half-way: run the job again with the same {output}, which finishes this first")

// publish replaces the old results with the new ones. If it returns no error, all new results are in place.
// If it returns one, the target is as it was, except for errInterrupted.
func (p *publication) publish() error {
	if err := p.checkNames(); err != nil {
		return err
	}
	if !p.old.whole {
		return p.publishFirst()
	}
	err := p.publishByExchange()
	if err == nil || !errors.Is(err, errNotExchanged) {
		return err
	}
	return p.publishByJournal()
}

// checkNames refuses names that foreign files or folders have.
func (p publication) checkNames() error {
	for _, m := range p.moves {
		info, err := p.disk.lstat(p.at(m.To))
		if err != nil {
			return err
		}
		switch {
		case info == nil:
		case info.IsDir():
			return fmt.Errorf("in the output folder %s there is a folder by the name of %s: move it away", p.path, m.To)
		case !p.old.has(m.To):
			return fmt.Errorf("in the output folder %s there is a file %s that no job has written: move it away", p.path, m.To)
		}
	}
	return nil
}

// publishFirst publishes if there are no whole results. It removes what a dead job has left. Then it gives
// each file its name, the mark of success last.
func (p publication) publishFirst() error {
	for _, name := range p.old.names {
		if err := p.removeFile(name); err != nil {
			return fmt.Errorf("remove what an earlier job left: %w", err)
		}
	}
	for i, m := range p.moves {
		var err error
		if m.To == SuccessName {
			err = p.disk.sync(p.path)
		}
		if err == nil {
			err = p.disk.rename(p.from(m), p.at(m.To))
		}
		if err != nil {
			return errors.Join(err, p.takeBack(i))
		}
	}
	if err := p.disk.sync(p.path); err != nil {
		return errors.Join(err, p.takeBack(len(p.moves)))
	}
	return nil
}

// takeBack removes the first n new files. The manifest goes last.
func (p publication) takeBack(n int) (err error) {
	for i := n - 1; i >= 0; i-- {
		err = errors.Join(err, p.disk.remove(p.at(p.moves[i].To)))
	}
	return err
}

// removeFile removes a result, unless a folder has taken its name.
func (t target) removeFile(name string) error {
	info, err := t.disk.lstat(t.at(name))
	if err != nil || info == nil || info.IsDir() {
		return err
	}
	return t.disk.remove(t.at(name))
}

// prepare checks the finished files and writes the files beside them. When it returns, all of them are on the
// device.
func (w *Workspace) prepare(files []output.File, summary any) ([]move, error) {
	moves := []move{{ManifestName, ManifestName}}
	var paths []string
	for i, file := range files {
		path := filepath.Join(w.Partial, file.Temporary)
		info, err := w.disk.lstat(path)
		if err == nil && info == nil {
			err = &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		}
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", file.Name, err)
		}
		if info.Size() != file.Bytes {
			return nil, fmt.Errorf("check %s: it has %d bytes, %d were written", file.Name, info.Size(), file.Bytes)
		}
		paths = append(paths, path)
		moves = append(moves, move{file.Temporary, file.Name})
		files[i].Temporary = ""
	}
	if err := w.disk.syncAll(paths); err != nil {
		return nil, fmt.Errorf("write the results to the disk: %w", err)
	}
	if err := w.writeJSON(ManifestName, Manifest{w.token, files}); err != nil {
		return nil, err
	}
	if err := w.writeJSON(SummaryName, summary); err != nil {
		return nil, err
	}
	if err := w.disk.writeFile(filepath.Join(w.Partial, SuccessName), nil); err != nil {
		return nil, fmt.Errorf("write %s: %w", SuccessName, err)
	}
	if err := w.disk.sync(w.Partial); err != nil {
		return nil, fmt.Errorf("write the results to the disk: %w", err)
	}
	return append(moves, move{SummaryName, SummaryName}, move{SuccessName, SuccessName}), nil
}

// writeJSON writes a file that is to be published.
func (w *Workspace) writeJSON(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = w.disk.writeFile(filepath.Join(w.Partial, name), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Publish gives the finished files their names in the output folder. Beside them it writes a manifest, the
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
	if w.bucket != nil {
		if w.isInterrupted, err = w.bucket.publish(files, summary); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
		return nil
	}
	moves, err := w.prepare(files, summary)
	if err != nil {
		return err
	}
	old, err := w.target().earlier()
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p := publication{target: w.target(), token: w.token, moves: moves, old: old}
	err = p.publish()
	w.locks = append(w.locks, p.locks...)
	if err != nil {
		_, isStaged := os.Lstat(p.staging(p.token))
		w.isInterrupted = errors.Is(err, errInterrupted) || isStaged == nil
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// recover finishes what a dead run has begun in the target, and removes what is left of the run.
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
