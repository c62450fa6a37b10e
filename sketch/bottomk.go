package sketch

import (
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// BottomK returns the k smallest elements of set, or all if it has fewer. Set is in ascending order. Since
// elements are hashes, the result is a uniform sample without replacement: the bottom-k sketch (Cohen,
// Kaplan, Summarizing data using bottom-k sketches, 2007). It shares the memory of set.
func BottomK(set []uint64, k int) []uint64 {
	return set[:max(min(k, len(set)), 0)]
}

// BottomKDocument is the bottom-k sketch of a text.
type BottomKDocument struct {
	// Smallest holds the k smallest distinct shingles as 48-bit hashes in ascending order, or all if there are fewer.
	// It belongs to the Hasher, which overwrites it in the next call.
	Smallest []uint64

	// Shingles is the number of distinct shingles if there are fewer than k. Otherwise it counts repetitions
	// too. [Overlap] takes it as the size of the set, and only compares it with the size of the sketch.
	Shingles int

	// Tokens and InvalidBytes are the same as in [Document].
	Tokens, InvalidBytes int
}

// BottomK returns the bottom-k sketch of text. It is the sketch of the set of [Hasher.Document], but BottomK
// need not sort the whole set. A k below 0 counts as 0.
func (h *Hasher) BottomK(text []byte, k int) BottomKDocument {
	tokens := h.shingles(text)
	shingles := len(h.elements)
	smallest := h.sorter.SortSmallest(h.elements, max(k, 0))
	if len(smallest) < k {
		shingles = len(smallest)
	}
	return BottomKDocument{smallest, shingles, tokens, h.tokenizer.invalid}
}

// Overlap looks at the k smallest elements of the union of two sets with na and nb elements. All of them are
// in a and b, the k smallest elements of each set. It counts these elements, and those that are in both sets
// (Broder, 1997). For sets of distinct random hashes the quotient of the counts estimates the Jaccard
// similarity J, without bias and with a variance below J(1-J)/k.
//
// If a and b are the whole sets, the counts are of the whole union, and Overlap says that they are
// exact. If a or b has fewer than k elements of a larger set, k is lowered to that number.
func Overlap(a, b []uint64, na, nb, k int) (common, union int, exact bool) {
	if len(a) == na && len(b) == nb {
		common = asmkernels.Intersect(a, b, 0)
		return common, na + nb - common, true
	}
	if len(a) < na {
		k = min(k, len(a))
	}
	if len(b) < nb {
		k = min(k, len(b))
	}
	common, onlyA, onlyB := countSmallest(a, b, k)
	return common, common + onlyA + onlyB, false
}

// countSmallest counts, among the most smallest elements of the union of two sets in ascending order, how many are in
// both, only in a and only in b.
func countSmallest[T uint32 | uint64](a, b []T, most int) (common, onlyA, onlyB int) {
	for i, j, union := 0, 0, 0; union < most && (i < len(a) || j < len(b)); union++ {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			onlyA++
			i++
		case i == len(a) || b[j] < a[i]:
			onlyB++
			j++
		default:
			common++
			i++
			j++
		}
	}
	return common, onlyA, onlyB
}

// smallest keeps the size smallest distinct hashes of a stream. It has a heap with the largest of them on
// top, and an open-addressed set with linear probing that keeps duplicates out of the heap (the single-hash
// MinHash article). A hash that leaves the heap stays in the set. When the set is half full, it is emptied
// and filled from the heap again. So it needs no deletion.
type smallest struct {
	size int
	heap []uint32 // a heap once it has size elements

	// slots are at least 4*size, a power of two. emptySlot marks free slots. hasEmpty says whether the hash
	// with that value was seen.
	slots    []uint32
	used     int
	hasEmpty bool
}

// emptySlot is the smallest hash. Once in the heap, it never leaves.
const emptySlot = 0

func newSmallest(size int) *smallest {
	return &smallest{
		size:  size,
		heap:  make([]uint32, 0, size),
		slots: make([]uint32, 1<<bits.Len(uint(4*max(size, 1)-1))),
	}
}

func (s *smallest) reset() {
	s.heap, s.used, s.hasEmpty = s.heap[:0], 0, false
	clear(s.slots)
}

func (s *smallest) collect(h uint32) {
	if len(s.heap) < s.size || h < s.heap[0] {
		s.admit(h)
	}
}

// admit does the work of collect for a hash that is among the smallest if it is new.
func (s *smallest) admit(h uint32) {
	switch {
	case !s.insert(h):
	case len(s.heap) == s.size:
		s.heap[0] = h
		s.sink(0)
	default:
		s.heap = append(s.heap, h)
		if len(s.heap) == s.size {
			for i := s.size/2 - 1; i >= 0; i-- {
				s.sink(i)
			}
		}
	}
}

func (s *smallest) insert(h uint32) bool {
	if h == emptySlot {
		inserted := !s.hasEmpty
		s.hasEmpty = true
		return inserted
	}
	if s.used >= len(s.slots)/2 {
		clear(s.slots)
		s.used = 0
		for _, kept := range s.heap {
			if kept != emptySlot {
				s.slots[s.find(kept)] = kept
				s.used++
			}
		}
	}
	at := s.find(h)
	if s.slots[at] == h {
		return false
	}
	s.slots[at] = h
	s.used++
	return true
}

func (s *smallest) find(h uint32) int {
	mask := len(s.slots) - 1
	at := int(h) & mask
	for s.slots[at] != h && s.slots[at] != emptySlot {
		at = (at + 1) & mask
	}
	return at
}

func (s *smallest) sink(i int) {
	heap := s.heap
	moving := heap[i]
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] > heap[child] {
			child++
		}
		if heap[child] <= moving {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = moving
}

func (s *smallest) appendSorted(dst []uint32) []uint32 {
	dst = append(dst, s.heap...)
	slices.Sort(dst[len(dst)-len(s.heap):])
	return dst
}
