package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestEndedError: the engine's own words count, or else the state.
func TestEndedError(t *testing.T) {
	for want, err := range map[string]error{
		"the job ended as FAILED": &EndedError{State: "FAILED"},
		"no room":                 &EndedError{State: "FAILED", Message: "no room"},
	} {
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSleep: a context that ends wakes the sleeper.
func TestSleep(t *testing.T) {
	if err := Sleep(t.Context(), time.Nanosecond); err != nil {
		t.Error(err)
	}
	ctx, end := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, end)
	if err := Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
