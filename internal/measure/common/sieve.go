package common

import (
	"math"
	"math/bits"
)

const (
	// cellShare is how many cells a sieve has for as many shingles as may fall into one. With fewer, more shingles pass that are
	// rare.
	cellShare = 8
	// leastCells and mostCells bound the cells of a sieve, which take two bytes each.
	leastCells, mostCells = 1 << 8, 1 << 23
)

// sieve tells which shingles may be frequent. Each falls into a cell, and a cell counts all that do. So a shingle passes if more
// documents have it than the limit, and few others pass.
type sieve struct {
	cells []uint16 // a full one stays as it is
	limit uint16
}

// newSieve returns a sieve for about the given number of shingles, repeats included. It holds back a shingle that at most limit documents have.
func newSieve(shingles, limit int64) *sieve {
	cells := min(max(cellShare*shingles/max(limit, 1), leastCells), mostCells)
	return &sieve{make([]uint16, 1<<bits.Len64(uint64(cells-1))), uint16(min(limit, math.MaxUint16-1))}
}

// cell returns the cell of a shingle. Shingles are hashes, and shingles of a range have the same upper bits.
func (s *sieve) cell(shingle uint64) *uint16 { return &s.cells[shingle&uint64(len(s.cells)-1)] }

func (s *sieve) add(shingle uint64) {
	if cell := s.cell(shingle); *cell < math.MaxUint16 {
		*cell++
	}
}

// passes reports whether a shingle may be frequent.
func (s *sieve) passes(shingle uint64) bool { return *s.cell(shingle) > s.limit }
