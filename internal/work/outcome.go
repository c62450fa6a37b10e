package work

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
)

// Outcome is the element that a task emits.
type Outcome struct {
	Stage  Stage
	Number int
	// Run is the path of the task's run file, "" if it wrote no record.
	Run string `json:",omitempty"`
	// Kept is the run file that a state is to keep of what the task has read, "" for none.
	Kept Path `json:",omitempty"`
	// Findings is what the task has found. Those of all tasks are merged.
	findings.Findings
	// OtherSources counts the values, and their documents, that are not among those that most documents of a corpus
	// have.
	OtherSources [sources.Corpora]sources.Others `json:",omitzero"`
	// Shingles is the number of hashes in the sets of a task's sketch blocks.
	Shingles int64 `json:",omitempty"`
	// Places is how many places a step has made for pairs and sets.
	Places int `json:",omitempty"`
	// Numbered is how many documents a task has numbered for the output.
	Numbered int64 `json:",omitempty"`
	// Sampled is the number of documents that the audit has sampled, in all.
	Sampled int `json:",omitempty"`
	// SampledAll says that the sample is all documents with words.
	SampledAll bool `json:",omitempty"`
	// OversizedGroups are the groups that wait until all oversized groups are known.
	OversizedGroups []OversizedGroup `json:",omitempty"`
	Files           []output.File    `json:",omitempty"`
	// FirstReject is the first row of rejects; only the task that writes them has it.
	FirstReject *output.Reject `json:",omitempty"`
}

// Encode encodes the outcome as an element.
func (o Outcome) Encode() ([]byte, error) { return json.Marshal(o) }

// DecodeOutcome reads an element that Encode made.
func DecodeOutcome(element []byte) (o Outcome, err error) {
	if err = json.Unmarshal(element, &o); err != nil {
		err = fmt.Errorf("decode outcome: %w", err)
	}
	return o, err
}

// OversizedGroup describes a group that waits, as its task reports it.
type OversizedGroup struct {
	ID    uint64 // ID of the key, see candidates.Grouper.KeyID
	Pairs int64
}

// ReadOutcomes returns the outcomes of an iterator and the sum of their counts. The outcomes are ordered by stage and
// task, in whatever order the runner brings them.
func ReadOutcomes(elements func(*[]byte) bool) ([]Outcome, findings.Counts, error) {
	var outcomes []Outcome
	var sum findings.Counts
	var element []byte
	for elements(&element) {
		if len(element) == 0 {
			continue
		}
		o, err := DecodeOutcome(element)
		if err != nil {
			return nil, sum, err
		}
		outcomes = append(outcomes, o)
		findings.Merge(&sum, o.Counts)
	}
	slices.SortFunc(outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)),
			cmp.Compare(a.Number, b.Number), cmp.Compare(a.Run, b.Run))
	})
	return outcomes, sum, nil
}

// RunsOf returns the run files of the outcomes.
func RunsOf(outcomes []Outcome) []string {
	var runs []string
	for _, o := range outcomes {
		if o.Run != "" {
			runs = append(runs, o.Run)
		}
	}
	return runs
}

// RunsBut returns the run files of the outcomes, without some stages.
func RunsBut(outcomes []Outcome, stages ...Stage) []string {
	isOne := func(o Outcome) bool { return slices.Contains(stages, o.Stage) }
	return RunsOf(slices.DeleteFunc(slices.Clone(outcomes), isOne))
}

func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(shippedOutcome{plainOutcome(o), []byte(o.Run)})
}

func (o *Outcome) UnmarshalJSON(b []byte) error {
	var shipped shippedOutcome
	if err := json.Unmarshal(b, &shipped); err != nil {
		return err
	}
	*o = Outcome(shipped.plainOutcome)
	o.Run = string(shipped.Run)
	return nil
}

type plainOutcome Outcome

type shippedOutcome struct {
	plainOutcome
	Run []byte `json:",omitempty"`
}

// A run that died can go on where it was, if its tasks have left notes of what they did. A note is kept under a hash of
// the name of the step and of all that its task was given. A task is given the names of the files that earlier tasks
// wrote, and these names are random. So a task that has to be done again gives its followers other names, and they are
// done again too. Parameters are not part of the hash: who resumes a run makes sure that they are the same.

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
