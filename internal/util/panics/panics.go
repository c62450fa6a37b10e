// Package panics keeps a panic over one document from ending a job: it becomes an error that says what was done to the
// document.
package panics

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"mirrorbeam.dev/internal/records/paged"
)

// Error is a panic over one document: a bug in runjob.
type Error struct {
	// Step is what was done to the document, such as "read".
	Step string
	// Value is what the program panicked with, and Place the function, file and line that did.
	Value, Place string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the program panicked when the document was %s: %s (%s): please report this line", e.Step,
		e.Value, e.Place)
}

// mostValue is the length of the longest value that is shown. A value may quote the document.
const mostValue = 300

// Over does one step of the work on one document. It returns the error of do, or an [*Error] if do panics. What do has
// changed by then is in any state. A panic that no document causes goes on, see [OfTask].
func Over(step string, do func() error) (err error) {
	defer func() {
		if value := recover(); OfTask(value) != nil {
			panic(value)
		} else if value != nil {
			err = &Error{step, fmt.Sprintf("%.*s", mostValue, fmt.Sprint(value)), place()}
		}
	}()
	return do()
}

// OfTask returns the error of a task that has panicked because its disk is full, and nil for all others: they are bugs.
func OfTask(value any) error {
	if fault, isOfDisk := value.(*paged.Fault); isOfDisk {
		return fault
	}
	return nil
}

// Of returns the panic that an error is about, nil if it is about none.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	caught, _ := errors.AsType[*Error](err)
	return caught
}

// place returns the innermost function of the program or its libraries that has panicked, during recovery.
func place() string {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for panicked := false; ; {
		frame, more := frames.Next()
		isOfRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if panicked && !isOfRuntime {
			return fmt.Sprintf("%s, %s:%d", path.Base(frame.Function), filepath.Base(frame.File), frame.Line)
		}
		if panicked = panicked || isOfRuntime; !more {
			return "unknown"
		}
	}
}
