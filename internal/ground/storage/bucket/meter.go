package bucket

import (
	"sync/atomic"

	"mirrorbeam/internal/ground/storage"
)

// Meter counts the requests of a service and what they carry. The zero Meter is ready for use.
type Meter struct {
	requests      [7]atomic.Int64 // by their kinds
	read, written atomic.Int64
}

// Count counts a request.
func (m *Meter) Count(kind storage.Kind) { m.requests[kind].Add(1) }

// TakeSpent returns what was spent since it was called last.
func (s *Store) TakeSpent() (spent storage.Spent) {
	meter := s.service.Meter()
	for kind := range meter.requests {
		spent.Requests[kind] = meter.requests[kind].Swap(0)
	}
	spent.ReadBytes, spent.WrittenBytes = meter.read.Swap(0), meter.written.Swap(0)
	return spent
}
