// Package setting lets a message name settings without knowing the names that its reader uses. A Go caller knows them
// as fields of a configuration, a user as flags.
package setting

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// Fault is an error whose message names settings.
type Fault struct {
	format string
	args   []any
}

// Errorf returns a Fault. Format is as in [fmt.Errorf], with one %w at most, and with the names of settings in braces,
// as in "{threshold} %g: must be above 0". Settings have the names of summary.json.
func Errorf(format string, args ...any) error { return &Fault{format, args} }

// Flag returns the flag of the command that sets a setting.
func Flag(name string) string { return "--" + strings.ReplaceAll(name, "_", "-") }

// Error returns the message with the settings by their own names.
func (f *Fault) Error() string {
	return f.text(func(setting string) string { return setting })
}

func (f *Fault) Unwrap() error { return errors.Unwrap(fmt.Errorf(f.format, f.args...)) }

// text returns the message with settings under the names that call returns. Braces in values stay as they are.
func (f *Fault) text(call func(setting string) string) string {
	args := slices.Clone(f.args)
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = errors.New(Text(err, call))
		}
	}
	return fmt.Errorf(braces.ReplaceAllStringFunc(f.format, func(name string) string {
		return call(name[1 : len(name)-1])
	}), args...).Error()
}

// braces matches the name of a setting in a format, with its braces.
var braces = regexp.MustCompile(`\{[a-z_]+\}`)

// Text returns the message of an error. A Fault in it, however deep it is wrapped, names its settings as call does.
func Text(err error, call func(setting string) string) string {
	text, done := err.Error(), 0
	for fault := range faults(err) {
		if at := strings.Index(text[done:], fault.Error()); at >= 0 {
			before, renamed := text[:done+at], fault.text(call)
			text = before + renamed + text[done+at+len(fault.Error()):]
			done = len(before) + len(renamed)
		}
	}
	return text
}

func faults(err error) iter.Seq[*Fault] {
	return func(yield func(*Fault) bool) { visit(err, yield) }
}

// visit calls yield with the outermost faults of an error, and reports whether all of them were wanted.
func visit(err error, yield func(*Fault) bool) bool {
	switch wrapper := err.(type) {
	case *Fault:
		return yield(wrapper)
	case interface{ Unwrap() error }:
		return visit(wrapper.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if !visit(inner, yield) {
				return false
			}
		}
	}
	return true
}
