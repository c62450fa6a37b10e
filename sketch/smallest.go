package sketch

import (
	"math/bits"
	"slices"
)

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

// reset forgets all hashes.
func (s *smallest) reset() {
	s.heap, s.used, s.hasEmpty = s.heap[:0], 0, false
	clear(s.slots)
}

// collect takes in the hash h.
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

// insert adds h to the set and reports whether it was not there.
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

// find returns the slot of h, or the slot in which it belongs.
func (s *smallest) find(h uint32) int {
	mask := len(s.slots) - 1
	at := int(h) & mask
	for s.slots[at] != h && s.slots[at] != emptySlot {
		at = (at + 1) & mask
	}
	return at
}

// sink moves the element i of the heap down to its place.
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

// appendSorted appends the hashes in ascending order.
func (s *smallest) appendSorted(dst []uint32) []uint32 {
	dst = append(dst, s.heap...)
	slices.Sort(dst[len(dst)-len(s.heap):])
	return dst
}
