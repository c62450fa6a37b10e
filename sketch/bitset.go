package sketch

import (
	"iter"
	"math/bits"
)

// bitSet holds small numbers, such as places in a sequence, with one bit for each.
type bitSet []uint64

// reset makes it the empty set of numbers below n.
func (s *bitSet) reset(n int) {
	*s = sized(*s, (n+63)/64)
	clear(*s)
}

func (s bitSet) add(i int)      { s[uint(i)/64] |= 1 << (uint(i) % 64) }
func (s bitSet) has(i int) bool { return s[uint(i)/64]>>(uint(i)%64)&1 != 0 }
func (s bitSet) remove(i int)   { s[uint(i)/64] &^= 1 << (uint(i) % 64) }

// all yields the numbers in their order.
func (s bitSet) all() iter.Seq[int] {
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
