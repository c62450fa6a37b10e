package storage

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Lease is a name that one holder has to itself.
type Lease interface {
	// Check returns an error if the lease is lost, or may be. A holder checks before it does what others must not see.
	Check() error

	// Release gives the lease back.
	Release() error
}

// ErrUnavailable is the cause of an error that may pass although nothing is changed: a lease that somebody else holds,
// a service that does not answer or is overloaded, credentials that have expired.
var ErrUnavailable = errors.New("unavailable for now")

// Unavailable makes an error an [ErrUnavailable] and keeps its text.
func Unavailable(err error) error { return unavailable{err} }

type unavailable struct{ error }

func (u unavailable) Unwrap() error        { return u.error }
func (u unavailable) Is(target error) bool { return target == ErrUnavailable }

// HeldError says that somebody else holds a lease. It is an [ErrUnavailable].
type HeldError struct {
	// Name is the name of the lease. Holder is the text with which the other holder took it, perhaps empty.
	Name, Holder string
	// Since is when the lease was taken, and Ends when others may take it unless it is renewed until then. Both are
	// zero where a lease ends with the process of its holder.
	Since, Ends time.Time
}

func (e *HeldError) Error() string {
	text := e.Name + " is held by " + cmp.Or(e.Holder, "somebody else")
	if !e.Since.IsZero() {
		text += ", since " + e.Since.UTC().Format(time.RFC3339)
	}
	if !e.Ends.IsZero() {
		text += "; if that is dead, its lease ends at " + e.Ends.UTC().Format(time.RFC3339)
	}
	return text
}

// Is makes the error an [ErrUnavailable].
func (e *HeldError) Is(target error) bool { return target == ErrUnavailable }

// longestPause is the longest time between two attempts to take a lease.
const longestPause = 2 * time.Second

// AwaitLease tries to take a lease until nobody else holds it, for at most the given time, and returns the last error
// of try. Before it waits for the first time it calls tell. The end of the context ends the wait.
func AwaitLease(ctx context.Context, most time.Duration, tell func(*HeldError), try func() error) error {
	for begun := time.Now(); ; {
		err := try()
		held, isHeld := errors.AsType[*HeldError](err)
		left := most - time.Since(begun)
		if !isHeld || left <= 0 {
			return err
		}
		if tell != nil {
			tell(held)
			tell = nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(min(longestPause, left)):
		}
	}
}
