package candidates

import (
	"math/bits"

	"mirrorbeam/internal/docref"
)

// Distinct is a set of pairs over a set of documents, which it numbers in the
// order in which they come.
type Distinct struct {
	// Refs and Sizes belong to the documents in the order of their numbers.
	Refs  []docref.Ref
	Sizes []uint32
	// Pairs holds the number of A in the high half, of B in the low one.
	Pairs []uint64

	documents table
	pairs     table

	// The pairs of one document mostly come one after the other.
	last       docref.Ref
	lastNumber uint32
}

// Reset empties the set and keeps its memory.
func (d *Distinct) Reset() {
	d.documents.clear()
	d.pairs.clear()
	*d = Distinct{Refs: d.Refs[:0], Sizes: d.Sizes[:0], Pairs: d.Pairs[:0], documents: d.documents, pairs: d.pairs}
}

// Add takes the pair in and reports whether it is new.
func (d *Distinct) Add(p Pair) bool {
	if p.A != d.last || len(d.Refs) == 0 {
		d.last, d.lastNumber = p.A, d.number(p.A, p.SizeA)
	}
	key := uint64(d.lastNumber)<<32 | uint64(d.number(p.B, p.SizeB))
	if d.pairs.full(len(d.Pairs)) {
		d.pairs.grow(len(d.Pairs), func(i int) uint64 { return d.Pairs[i] })
	}
	for at := d.pairs.start(key); ; at = d.pairs.next(at) {
		n := d.pairs.slots[at]
		if n == 0 {
			d.Pairs = append(d.Pairs, key)
			d.pairs.slots[at] = uint32(len(d.Pairs))
			return true
		}
		if d.Pairs[n-1] == key {
			return false
		}
	}
}

// number returns the number of a document, a new one if it is new.
func (d *Distinct) number(ref docref.Ref, size uint32) uint32 {
	if d.documents.full(len(d.Refs)) {
		d.documents.grow(len(d.Refs), func(i int) uint64 { return uint64(d.Refs[i]) })
	}
	for at := d.documents.start(uint64(ref)); ; at = d.documents.next(at) {
		n := d.documents.slots[at]
		if n == 0 {
			d.Refs = append(d.Refs, ref)
			d.Sizes = append(d.Sizes, size)
			n = uint32(len(d.Refs))
			d.documents.slots[at] = n
			return n - 1
		}
		if d.Refs[n-1] == ref {
			return n - 1
		}
	}
}

// table is an open-addressed index into a list of keys: a slot holds the place
// of its key in the list plus 1, or 0.
type table struct {
	slots []uint32
	shift int
}

func (t *table) clear() { clear(t.slots) }

func (t *table) full(n int) bool { return 2*n >= len(t.slots) }

func (t *table) start(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> t.shift) }

func (t *table) next(at int) int { return (at + 1) & (len(t.slots) - 1) }

// grow makes room for twice as many keys as the list has and enters them again.
func (t *table) grow(n int, key func(int) uint64) {
	size := max(1<<bits.Len(uint(4*n)), 1<<10)
	t.slots = make([]uint32, size)
	t.shift = 64 - bits.TrailingZeros(uint(size))
	for i := range n {
		at := t.start(key(i))
		for t.slots[at] != 0 {
			at = t.next(at)
		}
		t.slots[at] = uint32(i + 1)
	}
}
