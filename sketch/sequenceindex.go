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

// presenceBits is how many bits more than those of the number of shingles tell them
// apart well enough to say which are there: one in 16 to 32 others seems to be.
const presenceBits = 4

// IndexedSequence is a sequence that can be matched with others.
type IndexedSequence struct {
	Sequence
	places   []place  // by shingle, then in the order of the text
	starts   []uint32 // of the places of each value of the leading bits
	shift    int      // by which these are the leading ones
	distinct int

	presence      bitSet // values of more leading bits that shingles have
	presenceShift int
}

// NewIndexedSequence indexes s, which must not be changed afterwards.
func NewIndexedSequence(s Sequence) *IndexedSequence {
	x := &IndexedSequence{Sequence: s}
	x.sort()
	width := bits.Len(uint(len(x.places))) + presenceBits
	x.presenceShift = elementBits - width
	x.presence.reset(1 << width)
	for i, p := range x.places {
		if i == 0 || x.places[i-1].shingle != p.shingle {
			x.distinct++
		}
		x.presence.add(int(p.shingle >> x.presenceShift))
	}
	return x
}

// sort makes the places of the shingles. These being evenly spread, one pass by
// their leading bits leaves little to sort.
func (x *IndexedSequence) sort() {
	width := max(bits.Len(uint(x.Len()))-2, 1)
	x.shift = elementBits - width
	x.starts = make([]uint32, 1<<width+1)
	for _, shingle := range x.Shingles {
		x.starts[shingle>>x.shift]++
	}
	end := uint32(0)
	for i, n := range x.starts {
		end += n
		x.starts[i] = end
	}
	x.places = make([]place, x.Len())
	for i, shingle := range slices.Backward(x.Shingles) {
		start := &x.starts[shingle>>x.shift]
		*start--
		x.places[*start] = place{shingle, uint32(i)}
	}
	for i, start := range x.starts[:1<<width] {
		if of := x.places[start:x.starts[i+1]]; len(of) > 1 {
			slices.SortFunc(of, func(a, b place) int {
				if a.shingle != b.shingle {
					return cmp.Compare(a.shingle, b.shingle)
				}
				return cmp.Compare(a.at, b.at)
			})
		}
	}
}

// Distinct returns the number of distinct shingles.
func (x *IndexedSequence) Distinct() int { return x.distinct }

// find returns the places of a shingle, in the order of the text.
func (x *IndexedSequence) find(shingle uint64) []place {
	leading := shingle >> x.shift
	of := x.places[x.starts[leading]:x.starts[leading+1]]
	for len(of) > 0 && of[0].shingle < shingle {
		of = of[1:]
	}
	return first(of, shingle)
}

// first returns the places in front that are of the shingle.
func first(places []place, shingle uint64) []place {
	n := 0
	for n < len(places) && places[n].shingle == shingle {
		n++
	}
	return places[:n]
}

// seemsToHave reports whether the shingle may be there: never wrongly that it is not.
func (x *IndexedSequence) seemsToHave(shingle uint64) bool {
	return x.presence.has(int(shingle >> x.presenceShift))
}
