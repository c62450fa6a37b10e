package common

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// SeenDelivery makes a task of [Counting] for each range of hashes that has shingles.
func SeenDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.SeenSets}} }

// Counting finds the shingles of a range of hashes that more distinct documents have than the law allows.
type Counting struct {
	Law Law
}

// Task counts the shingles of one range. It needs the number of documents of the input. Most shingles are rare: a sieve lets
// few of these through, and the others are counted one by one.
func (c *Counting) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	limit, bytes := c.Law.Limit(t.Documents), int64(0)
	for _, piece := range w.Pieces {
		bytes += piece.Length
	}
	sieve := newSieve(bytes/sketchblock.HashSize, limit)
	var seen []records.Seen
	for _, visit := range []func(records.Seen){
		func(s records.Seen) {
			w.Figures.Records++
			sieve.add(s.Shingle)
		},
		func(s records.Seen) {
			if sieve.passes(s.Shingle) {
				seen = append(seen, s)
			}
		},
	} {
		for _, piece := range w.Pieces {
			packed, err := w.ReadPiece(0, piece)
			if err != nil {
				return err
			}
			if records.EachSeen(packed, visit); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	seen = graphs.RadixSort(seen, make([]records.Seen, len(seen)), func(s *records.Seen) uint64 { return s.Shingle })
	for len(seen) > 0 {
		n := 1
		for n < len(seen) && seen[n].Shingle == seen[0].Shingle {
			n++
		}
		if int64(n) > limit {
			if documents := distinct(w.Hashes[:0], seen[:n]); documents > limit {
				f := records.Frequent{Shingle: seen[0].Shingle, Documents: documents}
				if err := records.Write(&w.Run, records.FrequentShingles, 0, &f); err != nil {
					return err
				}
			}
		}
		seen = seen[n:]
	}
	return nil
}

func distinct(memory []uint64, seen []records.Seen) int64 {
	for _, s := range seen {
		memory = append(memory, s.Digest)
	}
	slices.Sort(memory)
	return int64(len(slices.Compact(memory)))
}

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
