package sketch

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

type place struct {
	shingle uint64
	at      uint32
}

// presenceBits is how many more bits than the number of shingles needs are used to say which shingles are
// present. With them, one absent shingle in 16 to 32 seems to be present.
const presenceBits = 4

// IndexedSequence is a sequence that can be matched with others.
type IndexedSequence struct {
	Sequence
	places   []place  // by shingle, then in the order of the text
	starts   []uint32 // where the places of each value of the leading bits begin
	shift    int      // shifts a hash right to its leading bits
	distinct int

	presence      bitSet // which values of more leading bits occur
	presenceShift int
}

// NewIndexedSequence indexes s. Nobody may change s afterwards.
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

// sort makes the sorted places of the shingles. Shingles are evenly spread. So one pass by their leading bits
// leaves little to sort.
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

func (x *IndexedSequence) find(shingle uint64) []place {
	leading := shingle >> x.shift
	of := x.places[x.starts[leading]:x.starts[leading+1]]
	for len(of) > 0 && of[0].shingle < shingle {
		of = of[1:]
	}
	return first(of, shingle)
}

// first returns the places at the front that belong to the shingle.
func first(places []place, shingle uint64) []place {
	n := 0
	for n < len(places) && places[n].shingle == shingle {
		n++
	}
	return places[:n]
}

// bitSet holds small numbers, such as places in a sequence, with one bit for each.
type bitSet []uint64

func (s *bitSet) reset(n int) {
	*s = sized(*s, (n+63)/64)
	clear(*s)
}

func (s bitSet) add(i int)      { s[uint(i)/64] |= 1 << (uint(i) % 64) }
func (s bitSet) has(i int) bool { return s[uint(i)/64]>>(uint(i)%64)&1 != 0 }

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

// rangeInWord returns the word that has number at, the bits in it of the numbers from there to end-1, and the number
// behind the last of these. At is below end.
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
