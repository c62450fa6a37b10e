// Package failure says what caused a failure: a wrong configuration, unusable input, or a folder that cannot be written
// to. If a limit of the machine caused it, the error says what to do about it.
package failure

import (
	"errors"
	"fmt"

	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// Kind says what is to blame for an error. [errors.Is] finds the kind of an error.
type Kind string

// The kinds of failure. An error of none of them is a bug in runjob.
const (
	// Usage is a configuration that is wrong.
	Usage Kind = "usage"
	// Input is input that cannot be used.
	Input Kind = "input"
	// Storage is an output or a temporary folder that cannot be used.
	Storage Kind = "storage"
	// Unavailable is what may pass although nothing is changed, such as a service that does not answer.
	Unavailable Kind = "unavailable"
)

// Error makes a kind an error, with which others can be compared.
func (k Kind) Error() string { return string(k) }

// failure is an error of a kind, which it does not mention.
type failure struct {
	kind Kind
	error
}

// Unwrap returns the kind and the error.
func (f failure) Unwrap() []error { return []error{f.kind, f.error} }

// New marks an error as one of a kind. Any error that is a [storage.ErrUnavailable] is of the kind [Unavailable].
func New(kind Kind, err error) error {
	if errors.Is(err, storage.ErrUnavailable) {
		kind = Unavailable
	}
	return failure{kind, err}
}

// Errorf returns an error of a kind. The format is as in [fmt.Errorf].
func Errorf(kind Kind, format string, args ...any) error {
	return New(kind, fmt.Errorf(format, args...))
}

// Explain marks an error of a job as one of a kind, or of none if the kind is empty. If a limit of the machine caused
// the error, the result is of the kind [Storage], and first says what to do.
func Explain(c *job.Config, kind Kind, err error) error {
	return explain(c, kind, work.NewFault(err), err)
}

// OfTask reduces the error of a runner to the message of the task, and explains that. Runners wrap it in the plan of
// the stage, line by line.
func OfTask(c *job.Config, err error) error {
	told, found := work.FaultOf(err)
	if !found {
		return Explain(c, "", err)
	}
	var kind Kind
	switch told.Kind {
	case work.InputFault:
		kind = Input
	case work.StorageFault, work.DamageFault:
		kind = Storage
	case work.UnavailableFault:
		kind = Unavailable
	}
	return explain(c, kind, told, errors.New(told.Text))
}

// explain returns the error of a fault. The remedy depends on the number of the system's error, never on words: they
// may be part of a file name.
func explain(c *job.Config, kind Kind, fault work.Fault, err error) error {
	remedy := remedy(c, fault)
	switch {
	case remedy != nil:
		return New(Storage, fmt.Errorf("%w (%w)", remedy, err))
	case kind != "":
		return New(kind, err)
	}
	return err
}

// remedy returns what helps against a limit of the machine, nil if no limit caused the fault.
func remedy(c *job.Config, fault work.Fault) error {
	isInState := c.State != "" && storage.Contains(c.State, fault.Path)
	if isInState && (fault.Kind == work.DamageFault || fault.Errno == "ENOENT") {
		return setting.Errorf(
			"a file of the {state} %s is damaged or missing: have all files read again with {rebuild}", c.State)
	}
	where, named := "the temporary folder "+c.TempFolder(), "temp"
	if workspace.IsPartial(fault.Path) {
		where, named = "the output folder "+c.Output, "output"
	}
	if isInState {
		where, named = "the state "+c.State, "state"
	}
	switch fault.Errno {
	case "EMFILE", "ENFILE":
		return errors.New("no more files can be opened: raise the limit with 'ulimit -n 1024' and run the job again")
	case "ENOSPC":
		return setting.Errorf("the disk of %s is full: make room on it, or name a folder on another disk with {"+named+
			"}", where)
	case "EDQUOT":
		return setting.Errorf(
			"your quota on the disk of %s is used up: make room on it, or name a folder on another disk with {"+named+
				"}", where)
	case "EFBIG":
		return fmt.Errorf(
			"a file in %s may not grow so large: raise the limit with 'ulimit -f unlimited' and run the job again",
			where)
	}
	return nil
}

// Unreadable says how many records could not be read.
func Unreadable(n int64) string {
	if n == 1 {
		return "1 record could not be read"
	}
	return fmt.Sprintf("%d records could not be read", n)
}
