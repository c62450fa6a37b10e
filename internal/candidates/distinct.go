package candidates

import (
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
)

// Distinct is a set of pairs over a set of documents, which it numbers in the
// order in which they come. The zero Distinct is empty.
type Distinct struct {
	// Documents holds the refs by number, Sizes their sizes.
	Documents numbering.Set
	Sizes     []uint32
	// Pairs holds the number of A in the high half, of B in the low one.
	Pairs numbering.Set

	// The pairs of one document mostly come one after the other.
	last       docref.Ref
	lastNumber uint32
}

// Reset empties the set and keeps its memory.
func (d *Distinct) Reset() {
	d.Documents.Reset()
	d.Pairs.Reset()
	d.Sizes = d.Sizes[:0]
}

// Add takes the pair in and reports whether it is new.
func (d *Distinct) Add(p Pair) bool {
	if p.A != d.last || len(d.Sizes) == 0 {
		d.last, d.lastNumber = p.A, d.number(p.A, p.SizeA)
	}
	_, isNew := d.Pairs.Add(uint64(d.lastNumber)<<32 | uint64(d.number(p.B, p.SizeB)))
	return isNew
}

// number returns the number of a document, a new one if it is new.
func (d *Distinct) number(ref docref.Ref, size uint32) uint32 {
	number, isNew := d.Documents.Add(uint64(ref))
	if isNew {
		d.Sizes = append(d.Sizes, size)
	}
	return number
}
