package sketch

import (
	"iter"
	"math/bits"
)

// bitSet holds small numbers, such as places in a sequence, with one bit for each.
type bitSet []uint64

func (s *bitSet) reset(n int) {
	*s = sized(*s, (n+63)/64)
	clear(*s)
}

func (s bitSet) add(i int)      { s[uint(i)/64] |= 1 << (uint(i) % 64) }
func (s bitSet) has(i int) bool { return s[uint(i)/64]>>(uint(i)%64)&1 != 0 }

// bit returns 1 if the set has i, else 0.
func (s bitSet) bit(i int) uint64 { return s[uint(i)/64] >> (uint(i) % 64) & 1 }

func (s bitSet) addRange(begin, end int) {
	for at := begin; at < end; {
		word, mask, next := rangeInWord(at, end)
		s[word] |= mask
		at = next
	}
}

func (s bitSet) removeRange(begin, end int) {
	for at := begin; at < end; {
		word, mask, next := rangeInWord(at, end)
		s[word] &^= mask
		at = next
	}
}

// rangeInWord returns the word that has number at, the bits in it of the numbers from there to end-1, and the number behind
// the last of these. At is below end.
func rangeInWord(at, end int) (word int, mask uint64, next int) {
	word = at / 64
	next = min(end, (word+1)*64)
	return word, ^uint64(0) >> (64 - uint(next-at)) << (uint(at) % 64), next
}

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

// runs yields the first and the last of all numbers that follow each other without a gap.
func (s bitSet) runs() iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		first := -1 // of the run that reaches to the end of the word before
		for i, word := range s {
			at := 0
			for at < 64 {
				rest := word >> at
				if first < 0 {
					if rest == 0 {
						break
					}
					at += bits.TrailingZeros64(rest)
					first = i*64 + at
					rest = word >> at
				}
				if at += bits.TrailingZeros64(^rest); at >= 64 {
					break // it may go on in the next word
				}
				if !yield(first, i*64+at-1) {
					return
				}
				first = -1
			}
		}
		if first >= 0 {
			yield(first, len(s)*64-1)
		}
	}
}
