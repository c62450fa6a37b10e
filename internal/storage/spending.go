package storage

import (
	"cmp"
	"context"
	"time"
)

// Kind is a kind of request to a storage behind a network.
type Kind int

const (
	Listing Kind = iota
	Describing
	Reading
	Writing
	Copying
	Removing
	// Fetching is any request to a server of the web.
	Fetching
	kinds
)

// kindNames are the names of the kinds, and prices the dollars for a thousand requests: list prices of Google Cloud
// Storage in one region (us-central1, Standard, November 2026). Those of Amazon S3 in us-east-1 are the same. Servers
// of the web ask for nothing.
var (
	kindNames = [kinds]string{"list", "describe", "read", "write", "copy", "remove", "fetch"}
	prices    = [kinds]float64{0.005, 0.0004, 0.0004, 0.005, 0.005, 0, 0}
)

// Kinds returns all kinds of requests.
func Kinds() []Kind {
	return []Kind{Listing, Describing, Reading, Writing, Copying, Removing, Fetching}
}

func (k Kind) String() string { return kindNames[k] }

// Dollars returns the list price of a number of requests.
func (k Kind) Dollars(requests float64) float64 { return requests / 1000 * prices[k] }

// Spent counts what was asked of storages behind a network. Requests that were tried again count again.
type Spent struct {
	// Requests are by their kinds.
	Requests [kinds]int64
	// ReadBytes and WrittenBytes are what was received and sent of the contents of files.
	ReadBytes, WrittenBytes int64
	// FetchedBytes is what was received from servers of the web.
	FetchedBytes int64
	// Answering is how long the requests to read waited in all until their answers began.
	Answering time.Duration
}

// Add adds other counts.
func (s *Spent) Add(other Spent) {
	for kind := range s.Requests {
		s.Requests[kind] += other.Requests[kind]
	}
	s.ReadBytes += other.ReadBytes
	s.WrittenBytes += other.WrittenBytes
	s.FetchedBytes += other.FetchedBytes
	s.Answering += other.Answering
}

// Spender is a Storage that counts its requests.
type Spender interface {
	// TakeSpent returns what was spent since it was called last.
	TakeSpent() Spent
}

// TakeSpent returns what this process has spent, in all storages, since TakeSpent was called last. So each request
// counts once, whoever of the process takes it.
func TakeSpent() (spent Spent) {
	registered.RLock()
	defer registered.RUnlock()
	for _, s := range registered.storages {
		if spender, is := s.(Spender); is {
			spent.Add(spender.TakeSpent())
		}
	}
	return spent
}

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
