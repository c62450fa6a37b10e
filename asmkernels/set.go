package asmkernels

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// fewElements is the number of elements up to which insertion alone sorts fastest.
	fewElements = 12

	// manyElements is the number of elements above which the bucket pass would
	// leave the caches, so that a coarse pass goes first.
	manyElements = 1 << 15

	// overwritten is the number of elements that the kernels that sort may overwrite outside of what they return.
	overwritten = 9

	coarseBits = 8

	// mostShifted is the number of places that insertion may move an element. Hashes stay far below it, unless two that
	// fall into the same bucket occur in turn very often or a text was made to fill one bucket.
	mostShifted = 64
)

// A SetSorter turns lists of elements into sets. It reuses its buffers, and must
// not be used by two goroutines at a time.
type SetSorter struct {
	scratch []uint64
	counts  []uint32
	few     []uint64 // what SortSmallest is left with
}

// Sort returns the distinct elements of list, which are below 2^ElementBits, in ascending order. They are in the memory
// of list or of s, which keeps them until the next call. The content of list is lost.
func (s *SetSorter) Sort(list []uint64) []uint64 {
	return s.sort(list)
}

// room returns scratch of size elements and those that kernels overwrite.
func (s *SetSorter) room(size int) []uint64 {
	size += overwritten
	s.scratch = slices.Grow(s.scratch[:0], size)[:size]
	return s.scratch
}

// sortGo is Sort, but leaves the set at the beginning of list and returns its size.
//
// Elements are hashes and thus evenly spread: one pass by their upper bits into somewhat more buckets than there are
// elements all but sorts them, and insertion does the rest.
func (s *SetSorter) sortGo(list []uint64) int {
	scratch := s.room(len(list))[:len(list)]
	if len(list) <= manyElements {
		return s.sortBuckets(list, scratch, ElementBits)
	}

	var ends [1 << coarseBits]uint32
	distribute(scratch, list, ends[:], ElementBits-coarseBits)
	size, start := 0, uint32(0)
	for _, end := range ends {
		// The groups are sorted in scratch, where they are now. Their places
		// in list serve as scratch and then take the result.
		group := scratch[start:end]
		distinct := s.sortBuckets(group, list[start:end], ElementBits-coarseBits)
		size += copy(list[size:], group[:distinct])
		start = end
	}
	return size
}

// sortBuckets is sortGo for elements that have all but their lower width bits in common. It returns the number of
// distinct elements and needs a scratch of the same length as list.
func (s *SetSorter) sortBuckets(list, scratch []uint64, width int) int {
	if len(list) <= fewElements && insertionSort(list) {
		return copyDistinct(list, list)
	}
	bucketBits := min(bits.Len(uint(len(list))), width)
	buckets := 1 << bucketBits
	s.counts = slices.Grow(s.counts[:0], buckets)[:buckets]
	clear(s.counts)
	distribute(scratch, list, s.counts, width-bucketBits)
	if !insertionSort(scratch) {
		slices.Sort(scratch)
	}
	return copyDistinct(list, scratch)
}

// distribute copies list to sorted in the order of the bits from shift upwards of its elements. There are len(counts)
// values of these bits, a power of two. The counts must be zero; they become the ends of the groups in sorted.
func distribute(sorted, list []uint64, counts []uint32, shift int) {
	mask := uint64(len(counts) - 1)
	for _, x := range list {
		counts[x>>(shift&63)&mask]++
	}
	next := uint32(0)
	for i, count := range counts {
		counts[i] = next
		next += count
	}
	for _, x := range list {
		bucket := &counts[x>>(shift&63)&mask]
		sorted[*bucket] = x
		*bucket++
	}
}

// insertionSort sorts a nearly sorted list. It gives up and returns false when an element is more than mostShifted
// places from where it belongs; the list then holds the same elements in some order.
func insertionSort(list []uint64) bool {
	if len(list) == 0 {
		return true
	}
	last := list[0]
	for i := 1; i < len(list); i++ {
		// Half of the neighbours in a bucket are in the wrong order, which nothing predicts. Hence the exchange has no
		// branch, and only an element that belongs even further to the front leaves this path.
		x := list[i]
		lower := min(last, x)
		last = max(last, x)
		list[i-1], list[i] = lower, last
		if i < 2 || list[i-2] <= lower {
			continue
		}
		at := i - 1
		for at > 0 && list[at-1] > lower {
			if i-at > mostShifted {
				list[at] = lower
				return false
			}
			list[at] = list[at-1]
			at--
		}
		list[at] = lower
	}
	return true
}

// copyDistinct copies the distinct elements of a sorted list to set and returns their number. The lengths of set and
// list are the same, and so may be the memory.
func copyDistinct(set, list []uint64) int {
	size := 0
	last := ^uint64(0) // no element
	for _, x := range list {
		set[size] = x
		if x != last {
			size++
		}
		last = x
	}
	return size
}

// SortSmallest returns the k smallest distinct elements of list, which are below 2^ElementBits, in ascending order, or
// all if there are fewer. It is the head of what Sort returns, k at least 0, in the memory of list or of s, which keeps
// it until the next call. The content of list is lost.
//
// Elements are hashes and thus evenly spread: of n, about m are below m/n of the largest. So few are left to be sorted.
// If too many of these are the same, twice as many are tried.
func (s *SetSorter) SortSmallest(list []uint64, k int) []uint64 {
	for wanted := mostlyEnough(k); wanted < len(list)-len(list)/8; wanted *= 2 {
		limit := uint64(float64(wanted) / float64(len(list)) * (1 << ElementBits))
		s.few = slices.Grow(s.few[:0], len(list)+overwritten)[:len(list)+overwritten]
		count := filter(s.few, list, limit)
		if set := s.Sort(s.few[:count]); len(set) >= k {
			return set[:k]
		}
	}
	set := s.Sort(list)
	return set[:min(k, len(set))]
}

// mostlyEnough returns a number of hashes to expect below a limit so that there are rarely fewer than k distinct ones:
// three standard deviations more, and what a text repeats.
func mostlyEnough(k int) int { return k + k/8 + 3*int(math.Sqrt(float64(k))) + 8 }

// filterGo copies the elements of list that are below limit to out, which is
// longer than list by those overwritten, and returns their number.
func filterGo(out, list []uint64, limit uint64) (count int) {
	out = out[:len(list)]
	for _, x := range list {
		out[count] = x
		if x < limit {
			count++
		}
	}
	return count
}
