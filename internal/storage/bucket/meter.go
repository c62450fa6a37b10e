package bucket

import (
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

// Answered notes how long a request has waited until its answer began.
func (m *Meter) Answered(kind storage.Kind, waited time.Duration) {
	if kind == storage.Reading {
		m.answering.Add(int64(waited))
	}
}

// TakeSpent returns what was spent since it was called last.
func (s *Store) TakeSpent() (spent storage.Spent) {
	meter := s.service.Meter()
	for kind := range meter.requests {
		spent.Requests[kind] = meter.requests[kind].Swap(0)
	}
	spent.ReadBytes, spent.WrittenBytes = meter.read.Swap(0), meter.written.Swap(0)
	spent.Answering = time.Duration(meter.answering.Swap(0))
	return spent
}
