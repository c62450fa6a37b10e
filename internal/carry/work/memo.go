package work

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"mirrorbeam/internal/ground/storage"
)

// A run that died can go on where it was, if its tasks have left notes of what they did. A note is kept under a hash of
// the name of the step and of all that its task was given. A task is given the names of the files that earlier tasks wrote, and
// these names are random. So a task that has to be done again gives its followers other names, and they are done again
// too. Parameters are not part of the hash: who resumes a run makes sure that they are the same.

// Done is what a task, or a step between stages, has done.
type Done struct {
	Outcome Outcome
	// Tasks are the elements that a step has emitted.
	Tasks [][]byte `json:",omitempty"`
}

// Recall returns what the task of a step that was given these elements has done, if the run has done it before.
func (r Runs) Recall(step string, given ...[]byte) (done Done, found bool, err error) {
	if !r.Resumable {
		return done, false, nil
	}
	content, err := storage.ReadFile(r.note(step, given))
	if errors.Is(err, fs.ErrNotExist) {
		return done, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &done)
	}
	if err != nil {
		return done, false, fmt.Errorf("recall what a task has done: %w", err)
	}
	return done, true, nil
}

// Remember notes what the task of a step that was given these elements has done. Its files must be whole.
func (r Runs) Remember(done Done, step string, given ...[]byte) error {
	if !r.Resumable {
		return nil
	}
	content, err := json.Marshal(done)
	if err == nil {
		err = storage.WriteFile(r.note(step, given), content)
	}
	if err != nil {
		return fmt.Errorf("note what a task has done: %w", err)
	}
	return nil
}

func (r Runs) note(step string, given [][]byte) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q", step)
	for _, element := range given {
		fmt.Fprintf(hash, " %d:", len(element))
		hash.Write(element)
	}
	return storage.Join(string(r.Folder), "done-"+base32.StdEncoding.EncodeToString(hash.Sum(nil)[:15]))
}
