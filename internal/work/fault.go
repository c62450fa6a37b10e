package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"mirrorbeam.dev/internal/storage"
)

// FaultKind says whose fault an error of a task is.
type FaultKind string

// The kinds of faults.
const (
	InputFault   FaultKind = "input"
	StorageFault FaultKind = "storage"
	DamageFault  FaultKind = "damage" // a file is not what this program has written there
	// UnavailableFault may pass although nothing is changed, see [storage.ErrUnavailable].
	UnavailableFault FaultKind = "unavailable"
	OtherFault       FaultKind = "internal"
)

// inputError is a failure to read the input, as opposed to a fault in its content.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// NewInputError marks the error as a failure to read the input.
func NewInputError(err error) error { return inputError{err} }

// Fault is an error of a task as its driver sees it.
type Fault struct {
	Kind FaultKind
	// Errno is the name of the system's error behind the fault, such as ENOSPC, or "". The worker's system may use
	// another number for it.
	Errno string
	// Path is the file of that error, or "".
	Path string
	// Text is the message for the user.
	Text string
}

// NewFault describes an error.
func NewFault(err error) Fault {
	fault := Fault{Kind: OtherFault, Text: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		fault.Kind, fault.Errno = StorageFault, unix.ErrnoName(errno)
	}
	if fault.Errno == "" && errors.Is(err, fs.ErrNotExist) { // in a bucket
		fault.Kind, fault.Errno = StorageFault, unix.ErrnoName(syscall.ENOENT)
	}
	var damaged *storage.DamagedError
	if errors.As(err, &damaged) {
		fault.Kind = DamageFault
	}
	var read inputError
	if errors.As(err, &read) {
		fault.Kind = InputFault
	}
	if errors.Is(err, storage.ErrUnavailable) {
		fault.Kind = UnavailableFault
	}
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case damaged != nil:
		fault.Path = damaged.Path
	case errors.As(err, &file):
		fault.Path = file.Path
	case errors.As(err, &link):
		fault.Path = link.New
	}
	// a storage may fail without a number, as when a connection is cut
	if fault.Kind == OtherFault && fault.Path != "" {
		fault.Kind = StorageFault
	}
	return fault
}

// faultMark precedes a fault in the text of an error.
const faultMark = "mirrorbeam fault:"

// Error encodes the fault. Its text is all that survives of an error on its way through a runner, which wraps it in
// text of its own. Each part is quoted, so that no file name in it can pass for another part.
func (f Fault) Error() string {
	b := []byte(faultMark)
	for _, part := range []string{string(f.Kind), f.Errno, f.Path, f.Text} {
		b = strconv.AppendQuoteToASCII(append(b, ' '), part)
	}
	return string(b)
}

// MarkFault returns an error from which [FaultOf] gets the fault back.
func MarkFault(err error) error { return NewFault(err) }

// FaultOf returns the fault of a task behind the error of a runner, if a task caused the error.
func FaultOf(err error) (fault Fault, found bool) {
	if errors.As(err, &fault) {
		return fault, true
	}
	// The first mark is ours: a later one may be part of a file name.
	for text := err.Error(); ; {
		_, after, found := strings.Cut(text, faultMark)
		if !found {
			return Fault{}, false
		}
		_, err := fmt.Sscanf(after, " %q %q %q %q", &fault.Kind, &fault.Errno, &fault.Path, &fault.Text)
		if err == nil {
			return fault, true
		}
		text = after
	}
}
