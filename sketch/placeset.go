package sketch

import (
	"iter"
	"math/bits"
)

// placeSet holds places in a sequence, a bit for each.
type placeSet []uint64

// reset makes it the empty set of places in a sequence of so many shingles.
func (s *placeSet) reset(shingles int) {
	*s = sized(*s, (shingles+63)/64)
	clear(*s)
}

func (s placeSet) add(at uint32)      { s[at/64] |= 1 << (at % 64) }
func (s placeSet) has(at uint32) bool { return s[at/64]>>(at%64)&1 != 0 }
func (s placeSet) remove(at int)      { s[at/64] &^= 1 << (at % 64) }

// all yields the places in their order.
func (s placeSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
