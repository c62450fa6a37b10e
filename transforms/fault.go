package transforms

import (
	"errors"
	"strings"
	"syscall"
)

// FaultKind says whose fault an error of a task is.
type FaultKind string

// The kinds of faults.
const (
	InputFault   FaultKind = "input"
	StorageFault FaultKind = "storage"
	OtherFault   FaultKind = "internal"
)

// inputError is a failure to read the input, not a fault of what is in it.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// An error reaches the driver as text only, wrapped by the runner. The marks
// tell where the text of the task starts, what kind it is, and where it ends.
const (
	faultStart = "mirrorbeam fault "
	faultEnd   = " (end of fault)"
)

// markFault makes the text of an error so that ParseFault finds it again.
func markFault(err error) error {
	kind := OtherFault
	var errno syscall.Errno
	var read inputError
	switch {
	case errors.As(err, &read):
		kind = InputFault
	case errors.As(err, &errno):
		kind = StorageFault
	}
	return errors.New(faultStart + string(kind) + ": " + err.Error() + faultEnd)
}

// ParseFault returns the kind and the text of the fault of a task that an error
// of a runner tells of.
func ParseFault(text string) (kind FaultKind, fault string, found bool) {
	at := strings.LastIndex(text, faultStart)
	if at < 0 {
		return "", "", false
	}
	text, _, _ = strings.Cut(text[at+len(faultStart):], faultEnd)
	name, fault, _ := strings.Cut(text, ": ")
	return FaultKind(name), fault, true
}
