package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"mirrorbeam/internal/ground/storage"
)

// A run that is to be resumed if it dies keeps its folders. It writes a file into each of them, by which the next run of
// the same recipe finds them. Runs for other output folders leave them alone for a while.

// keptName is the name of that file.
const keptName = "resume.json"

// longestKept is how long the folders of a dead run wait to be resumed while runs for other output folders come by.
const longestKept = 7 * 24 * time.Hour

// kept is the content of that file.
type kept struct {
	// Recipe identifies all that the run was to do.
	Recipe string    `json:"recipe"`
	Output string    `json:"output"`
	Temp   string    `json:"temp"`
	Since  time.Time `json:"since"`
}

// waits reports whether a run for another output folder has to leave the folders alone.
func (k kept) waits(output string) bool {
	return k.Output != output && time.Since(k.Since) < longestKept
}

// readKept reads the file in a folder, if there is one.
func readKept(folder string) (k kept, is bool, err error) {
	content, err := storage.ReadFile(storage.Join(folder, keptName))
	if errors.Is(err, fs.ErrNotExist) {
		return k, false, nil
	}
	if err != nil {
		return k, false, err
	}
	if err := json.Unmarshal(content, &k); err != nil {
		return kept{}, false, nil // it died while it wrote the file, or the file is foreign
	}
	return k, true, nil
}

// Keep makes Close leave the folders of the run as they are, unless the results are published. It does nothing unless
// the run has a recipe.
func (w *Workspace) Keep() error {
	if w.recipe == "" {
		return nil
	}
	content, err := json.Marshal(kept{w.recipe, w.Output, w.Temp, time.Now()})
	if err == nil {
		err = w.writeBoth(keptName, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the folders of the run: %w", err)
	}
	w.isKept = true
	return nil
}

// IsKept reports whether Close would leave the folders of the run to be resumed. While a cluster works on the job, it
// leaves them anyway.
func (w *Workspace) IsKept() bool { return w.isKept && !w.isHandedOver }

// release makes the run like any other, as its results are about to be published.
func (w *Workspace) release() error {
	if !w.isKept {
		return nil
	}
	if err := w.removeBoth(keptName); err != nil {
		return err
	}
	w.isKept = false
	return nil
}

// resume takes up a dead run that was kept, if it is of the same recipe.
func (w *Workspace) resume(token, partial string) (resumed bool, err error) {
	k, is, err := readKept(partial)
	if err != nil || !is || w.recipe == "" || k.Output != w.Output {
		return false, err
	}
	if k.Recipe != w.recipe {
		w.Outdated = true
		return false, nil
	}
	own := w.token
	w.token = token
	err = w.takeUpTemp(k.Temp)
	if err != nil {
		w.token, w.Temp = own, ""
	}
	if held, isHeld := errors.AsType[*storage.HeldError](err); isHeld {
		return false, fmt.Errorf("the leases of the job that died last for up to a minute more: run this one again then (%w)", held)
	}
	if err != nil {
		w.Outdated = true
		return false, nil
	}
	w.Partial, w.Resumed, w.isKept = partial, true, true
	return true, nil
}
