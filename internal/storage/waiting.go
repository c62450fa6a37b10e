package storage

import (
	"cmp"
	"context"
	"time"
)

// Waiting says how the storages of this process wait for a network. It belongs to the process, as the environment does
// in which they find their credentials. A zero field leaves what was said before.
type Waiting struct {
	// End ends all waits. A request that is on its way then gets a second to succeed, and nothing is tried again. When
	// a request has got no answer in that time, further ones are not made: so nobody waits to clear away what cannot be
	// reached.
	End context.Context
	// Patience is how long an operation goes on that makes no progress.
	Patience time.Duration
	// Tell is called when an operation has waited for a while, though not for each. It must not block.
	Tell func(Wait)
}

// Wait is an operation that waits.
type Wait struct {
	// Op and Name are the operation and its file or folder.
	Op, Name string
	// Err is why the last try failed; nil if there is no answer yet.
	Err error
	// Left is how long the operation goes on if it makes no progress.
	Left time.Duration
}

// Waiter is a Storage behind a network.
type Waiter interface {
	// SetWaiting says how operations wait from now on.
	SetWaiting(w Waiting)
}

// SetWaiting says how the operations of all storages wait from now on, also of those that are registered later.
func SetWaiting(w Waiting) {
	registered.Lock()
	defer registered.Unlock()
	said := &registered.waiting
	if w.End != nil {
		said.End = w.End
	}
	if w.Tell != nil {
		said.Tell = w.Tell
	}
	said.Patience = cmp.Or(w.Patience, said.Patience)
	for _, s := range registered.storages {
		if waiter, is := s.(Waiter); is {
			waiter.SetWaiting(*said)
		}
	}
}
