package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestAwaitLease: who waits tells so once, gets the lease when it is free, and gives up in the end.
func TestAwaitLease(t *testing.T) {
	held := fmt.Errorf("open: %w", &HeldError{Name: "lock"})
	other := errors.New("the disk is full")
	for _, c := range []struct {
		name    string
		most    time.Duration
		answers []error // of the tries
		want    error
		tells   int
	}{
		{"free", time.Minute, []error{nil}, nil, 0},
		{"does not wait", 0, []error{held}, held, 0},
		{"is given back", time.Minute, []error{held, nil}, nil, 1},
		{"another error ends the wait", time.Minute, []error{held, other}, other, 1},
		{"is not given back", time.Millisecond, []error{held, held}, held, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			tells, tries := 0, 0
			err := AwaitLease(t.Context(), c.most, func(*HeldError) { tells++ }, func() error {
				tries++
				return c.answers[tries-1]
			})
			if err != c.want || tells != c.tells || tries != len(c.answers) {
				t.Errorf("%v after %d tries, told %d times, want %v, %d, %d", err, tries, tells, c.want,
					len(c.answers), c.tells)
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := AwaitLease(ended, time.Minute, nil, func() error { return held }); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
}

// TestHeldError: the message says who has the lease and, of one that ends by itself, when.
func TestHeldError(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		held HeldError
		want string
	}{
		{HeldError{Name: "lock"}, "lock is held by somebody else"},
		{HeldError{Name: "lock", Holder: "process 7 on here"}, "lock is held by process 7 on here"},
		{
			HeldError{Name: "lock", Holder: "process 7", Since: noon, Ends: noon.Add(time.Minute)},
			"lock is held by process 7, since 2026-01-02T12:00:00Z; " +
				"if that is dead, its lease ends at 2026-01-02T12:01:00Z",
		},
	} {
		if got := c.held.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if !errors.Is(fmt.Errorf("%w", &c.held), ErrUnavailable) {
			t.Errorf("%v is final", &c.held)
		}
	}
}
