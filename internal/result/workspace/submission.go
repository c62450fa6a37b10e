package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// A job that runs on a cluster outlives the process that started it. Then no lock says that the run is alive, but its
// folders are in use. So before a run hands its job over, it writes a file into each of its two folders. Other runs
// leave a folder with that file alone, until a process takes the run up again and settles it.

// SubmissionName is the name of the file that says that the job of a run is in the hands of a cluster.
const SubmissionName = "job.json"

type submission struct {
	Token  string `json:"token"`
	Output string `json:"output"`
	Temp   string `json:"temp"`
	// Job is what the next process needs to know of the job.
	Job json.RawMessage `json:"job"`
}

// HandedOverError says that the job of an earlier run is, or may be, still at work on an output folder.
type HandedOverError struct {
	// Output is the output folder of the run.
	Output string
}

func (e *HandedOverError) Error() string {
	return fmt.Sprintf(
		"a job on a cluster writes to the output folder %s: 'runjob finish %s' waits for it and publishes its "+
			"results; or give another folder", e.Output, e.Output)
}

// RecordSubmission records that the job of the run is in the hands of a cluster, or is about to be. From now on Close
// leaves the folders of the run as they are, until [Workspace.Settle]. A second call replaces what the first has
// recorded.
func (w *Workspace) RecordSubmission(job any) error {
	inner, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("record the job: %w", err)
	}
	content, err := json.MarshalIndent(submission{w.token, w.Output, w.Temp, inner}, "", "  ")
	if err != nil {
		return fmt.Errorf("record the job: %w", err)
	}
	if err := w.writeBoth(SubmissionName, append(content, '\n')); err != nil {
		return fmt.Errorf("record the job: %w", err)
	}
	w.isHandedOver = true
	return nil
}

// Settle says that the job of the run has ended, or never began. From now on the run is like any other.
func (w *Workspace) Settle() error {
	if !w.isHandedOver {
		return nil
	}
	if err := w.removeBoth(SubmissionName); err != nil {
		return fmt.Errorf("remove the record of the job: %w", err)
	}
	w.isHandedOver = false
	return nil
}

func (w *Workspace) writeBoth(name string, content []byte) error {
	return errors.Join(storage.WriteFile(storage.Join(w.Temp, name), content),
		storage.WriteFile(storage.Join(w.Partial, name), content))
}

func (w *Workspace) removeBoth(name string) error {
	return errors.Join(storage.Remove(storage.Join(w.Partial, name)), storage.Remove(storage.Join(w.Temp, name)))
}

func isHandedOver(folder string) (bool, error) {
	_, err := storage.Stat(storage.Join(folder, SubmissionName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// TakeUp takes up the run whose job was handed over with results for an output folder. It decodes what was recorded of
// the job into the value that record points to. The error is fs.ErrNotExist if there is no such run.
//
// In a bucket the leases of a process outlive it for a while. TakeUp waits for their end, until the context ends, and
// calls wait before it does. A process that is alive keeps its leases, and then it gives up.
func TakeUp(ctx context.Context, output string, record any, wait func(*storage.HeldError)) (_ *Workspace, err error) {
	w := &Workspace{usual: job.UsualTemp(output), isHandedOver: true}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if err := storage.AwaitLease(ctx, longestLease, wait, func() error { return w.takeUpOutput(output) }); err != nil {
		return nil, err
	}
	content, err := storage.ReadFile(storage.Join(w.Partial, SubmissionName))
	if err != nil {
		return nil, err
	}
	var h submission
	if err := json.Unmarshal(content, &h); err != nil || h.Token != w.token || h.Temp == "" {
		return nil, fmt.Errorf("%s in %s does not come from a job", SubmissionName, w.Partial)
	}
	if err := json.Unmarshal(h.Job, record); err != nil {
		return nil, fmt.Errorf("%s in %s was written by another version of this program: %w", SubmissionName,
			w.Partial, err)
	}
	k, isKept, err := readKept(w.Partial)
	if err != nil {
		return nil, err
	}
	w.recipe, w.isKept = k.Recipe, isKept
	return w, storage.AwaitLease(ctx, longestLease, wait, func() error { return w.takeUpTemp(h.Temp) })
}

// longestLease is longer than any lease outlives its process.
const longestLease = 90 * time.Second

// noJob is the error of an output folder for which no job is to be finished. It is an [fs.ErrNotExist].
type noJob struct{ output string }

func (n noJob) Error() string {
	return fmt.Sprintf(
		"no job on a cluster writes to the output folder %s: name the --output of a 'runjob run' on a cluster",
		n.output)
}

func (n noJob) Is(target error) bool { return target == fs.ErrNotExist }

func (w *Workspace) takeUpOutput(output string) error {
	err := w.openOutput(output, false)
	held := heldBy(output, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noJob{output}
	case held != nil:
		return fmt.Errorf("another process waits for the job or writes to the output folder %s (%w)", output, held)
	case err != nil:
		return setting.Errorf("the output folder %s cannot be used: %w", output, err)
	}
	tokens, err := w.output.tokens()
	if err != nil {
		return err
	}
	for _, token := range tokens {
		partial := w.output.partial(token)
		is, err := w.output.claim(token)
		if err == nil && is {
			is, err = isHandedOver(partial)
		}
		if err != nil {
			return err
		}
		if is {
			w.token, w.Partial = token, partial
			return nil
		}
	}
	return noJob{output}
}

func (w *Workspace) takeUpTemp(folder string) error {
	w.Temp = folder
	if storage.Scheme(folder) != "" {
		b, err := leaseBucketTemp(folder, w.token)
		if err == nil {
			w.temp = b
		}
		return err
	}
	if _, is := marked(folder, w.token); !is {
		return fmt.Errorf("the temporary folder %s of the job is gone, or belongs to somebody else", folder)
	}
	lock, err := storage.Lock(folder+lockSuffix, os.O_RDWR)
	if err != nil {
		return fmt.Errorf("take up the temporary folder: %w", err)
	}
	w.temp = &tempFolder{w.disk, folder, lock}
	return nil
}

// A run that is to be resumed if it dies keeps its folders. It writes a file into each of them, by which the next run
// of the same recipe finds them. Runs for other output folders leave them alone for a while.

const keptName = "resume.json"

// longestKept is how long the folders of a dead run wait to be resumed while runs for other output folders come by.
const longestKept = 7 * 24 * time.Hour

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
		return false, fmt.Errorf(
			"the leases of the job that died last for up to a minute more: run this one again then (%w)", held)
	}
	if err != nil {
		w.Outdated = true
		return false, nil
	}
	w.Partial, w.Resumed, w.isKept = partial, true, true
	return true, nil
}
