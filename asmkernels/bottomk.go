package asmkernels

import (
	"math"
	"slices"
)

// SortSmallest returns the k smallest distinct elements of list, which are below
// 2^ElementBits, in ascending order, or all if there are fewer. It is the head of
// what Sort returns, k at least 0, in the memory of list or of s, which
// keeps it until the next call. The content of list is lost.
//
// Elements are hashes and thus evenly spread: of n, about m are below m/n of the
// largest. So few are left to be sorted. If too many of these are the same, twice
// as many are tried.
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

// mostlyEnough returns a number of hashes to expect below a limit so that there
// are rarely fewer than k distinct ones: three standard deviations more, and what
// a text repeats.
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
