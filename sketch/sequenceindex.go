package sketch

import (
	"cmp"
	"math/bits"
	"slices"
)

// place says where a shingle is in a sequence.
type place struct {
	shingle uint64
	at      uint32
}

// IndexedSequence is a sequence that can be matched with others.
type IndexedSequence struct {
	Sequence
	places   []place // by shingle, then in the order of the text
	distinct int
}

// NewIndexedSequence indexes s, which must not be changed afterwards.
func NewIndexedSequence(s Sequence) *IndexedSequence {
	x := &IndexedSequence{Sequence: s, places: sortedPlaces(s.Shingles)}
	for i := range x.places {
		if i == 0 || x.places[i-1].shingle != x.places[i].shingle {
			x.distinct++
		}
	}
	return x
}

// sortedPlaces returns the places of shingles by shingle, then in their order.
// Shingles being evenly spread, one pass by their leading bits leaves little to
// sort.
func sortedPlaces(shingles []uint64) []place {
	width := max(min(bits.Len(uint(len(shingles)))-2, 20), 1)
	shift := elementBits - width
	ends := make([]uint32, 1<<width+1)
	places := make([]place, len(shingles))
	for _, shingle := range shingles {
		ends[shingle>>shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	for i, shingle := range shingles {
		places[ends[shingle>>shift]] = place{shingle, uint32(i)}
		ends[shingle>>shift]++
	}
	start := uint32(0)
	for _, end := range ends[:len(ends)-1] {
		if end-start > 1 {
			slices.SortFunc(places[start:end], func(a, b place) int {
				return cmp.Or(cmp.Compare(a.shingle, b.shingle), cmp.Compare(a.at, b.at))
			})
		}
		start = end
	}
	return places
}

// Distinct returns the number of distinct shingles.
func (x *IndexedSequence) Distinct() int { return x.distinct }
