package bucket

import (
	"net/http"
	"sync/atomic"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// Meter counts the requests of a service and what they carry. The zero Meter is ready for use.
type Meter struct {
	requests      [7]atomic.Int64 // by their kinds
	read, written atomic.Int64
	answering     atomic.Int64 // nanoseconds
}

// Count counts a request.
func (m *Meter) Count(kind storage.Kind) { m.requests[kind].Add(1) }

// Send sends a request of a kind, counts it, and bounds its answer unless that is the content of an object.
func (m *Meter) Send(kind storage.Kind, request *http.Request,
	send func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	begun := time.Now()
	m.Count(kind)
	answer, err := send(request)
	if kind == storage.Reading {
		m.answering.Add(int64(time.Since(begun)))
	}
	if err != nil || kind == storage.Reading && answer.StatusCode < http.StatusMultipleChoices {
		return answer, err
	}
	return Bound(answer), nil
}

// TakeSpent returns what was spent since it was called last.
func (s *Store) TakeSpent() (spent storage.Spent) {
	meter := s.service.Meter()
	for kind := range meter.requests {
		spent.Requests[kind] = meter.requests[kind].Swap(0)
	}
	spent.WrittenBytes = meter.written.Swap(0)
	if s.IsReadOnly() { // a server that asks for no money
		spent.FetchedBytes = meter.read.Swap(0)
	} else {
		spent.ReadBytes = meter.read.Swap(0)
	}
	spent.Answering = time.Duration(meter.answering.Swap(0))
	return spent
}
