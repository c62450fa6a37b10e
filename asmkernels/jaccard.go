package asmkernels

import (
	"math"
	"math/bits"
	"sort"
	"unsafe"
)

const (
	// mergeBurst is the number of merge steps between two looks at the bound. A look is a few predictable instructions,
	// so a burst of this size makes it free and still gives up early on sets of a hundred elements.
	mergeBurst = 32

	// gallopRatio is how many times longer one set must be before looking up the elements of the shorter one beats
	// merging, gallopRatioBlocks before it beats merging by blocks.
	gallopRatio       = 12
	gallopRatioBlocks = 128
)

// Intersect returns the number of elements that a and b have in common. Both are sets in strictly ascending order: all
// shingles of a text, or the smallest of them as a fingerprint.
//
// A result of need or more is exact. A result below need only says that the intersection is smaller than need:
// Intersect stops as soon as the elements left can no longer reach it. With a need of 0 the result is always exact.
func Intersect[E uint32 | uint64](a, b []E, need int) int {
	if unsafe.Sizeof(*new(E)) == 4 {
		return intersect32(sameAs[uint32](a), sameAs[uint32](b), need)
	}
	return intersect64(sameAs[uint64](a), sameAs[uint64](b), need)
}

// sameAs returns the list of elements of the same size as such of type T, which the compiler cannot know.
func sameAs[T, E uint32 | uint64](list []E) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

func intersectGo[E uint32 | uint64](a, b []E, need int) int {
	switch {
	case min(len(a), len(b)) < need:
		return 0
	case areUneven(len(a), len(b), gallopRatio):
		return intersectGalloping(a, b, need)
	}
	return intersectMerging(a, b, need)
}

// areUneven reports whether one length is more than ratio times the other.
func areUneven(a, b, ratio int) bool { return a > ratio*b || b > ratio*a }

// intersectMerging counts the common elements by a merge without unpredictable
// branches: the borrow of x-y says whether x < y.
//
// Every step waits for the loads of the one before, so the sets are cut in two
// at the middle element of a and both halves are merged side by side.
func intersectMerging[E uint32 | uint64](a, b []E, need int) int {
	var middle E
	if len(a) > 0 {
		middle = a[len(a)/2]
	}
	cut := sort.Search(len(b), func(i int) bool { return b[i] >= middle })
	lowA, highA := a[:len(a)/2], a[len(a)/2:]
	lowB, highB := b[:cut], b[cut:]

	common := 0
	for {
		lowLeft := min(len(lowA), len(lowB))
		highLeft := min(len(highA), len(highB))
		if lowLeft == 0 {
			return mergeOne(highA, highB, common, need)
		}
		if highLeft == 0 {
			return mergeOne(lowA, lowB, common, need)
		}
		if common+lowLeft+highLeft < need {
			return common
		}
		i, j, p, q := 0, 0, 0, 0
		for range min(lowLeft, highLeft, mergeBurst) {
			x, y := uint64(lowA[i]), uint64(lowB[j])
			v, w := uint64(highA[p]), uint64(highB[q])
			_, xAfter := bits.Sub64(y, x, 0)
			_, yAfter := bits.Sub64(x, y, 0)
			_, vAfter := bits.Sub64(w, v, 0)
			_, wAfter := bits.Sub64(v, w, 0)
			i += 1 - int(xAfter)
			j += 1 - int(yAfter)
			p += 1 - int(vAfter)
			q += 1 - int(wAfter)
			common += 2 - int(xAfter+yAfter) - int(vAfter+wAfter)
		}
		lowA, lowB = lowA[i:], lowB[j:]
		highA, highB = highA[p:], highB[q:]
	}
}

// mergeOne adds the common elements of a and b to common.
func mergeOne[E uint32 | uint64](a, b []E, common, need int) int {
	for {
		left := min(len(a), len(b))
		if left == 0 || common+left < need {
			return common
		}
		i, j := 0, 0
		for range min(left, mergeBurst) {
			x, y := uint64(a[i]), uint64(b[j])
			_, xAfter := bits.Sub64(y, x, 0)
			_, yAfter := bits.Sub64(x, y, 0)
			i += 1 - int(xAfter)
			j += 1 - int(yAfter)
			common += 1 - int(xAfter+yAfter)
		}
		a, b = a[i:], b[j:]
	}
}

// intersectGalloping looks every element of the shorter set up in the longer one, by steps of doubling length from the
// last place found and a binary search in the last step.
func intersectGalloping[E uint32 | uint64](short, long []E, need int) int {
	if len(short) > len(long) {
		short, long = long, short
	}
	common := 0
	for i, x := range short {
		if common+len(short)-i < need {
			return common
		}
		end := 1
		for end < len(long) && long[end-1] < x {
			end *= 2
		}
		start := end / 2
		end = min(end, len(long))
		window := long[start:end]
		long = long[start+sort.Search(len(window), func(k int) bool { return window[k] >= x }):]
		if len(long) == 0 {
			return common
		}
		if long[0] == x {
			common++
		}
	}
	return common
}

// Required returns how many elements two sets of na and nb elements must have in common for their Jaccard similarity to
// reach threshold: the smallest n from 0 to min(na, nb) for which
//
//	float64(n) / float64(na+nb-n) >= threshold
//
// holds in float64 arithmetic, and min(na, nb)+1 if there is none, which
// includes two empty sets and a threshold that is not a number.
func Required(threshold float64, na, nb int) int {
	most := min(na, nb)
	reached := func(n int) bool {
		return float64(n)/float64(na+nb-n) >= threshold
	}
	// Solving n/(na+nb-n) = threshold leaves at most a rounding error, which the exact expression then corrects.
	n := most + 1
	if estimate := math.Ceil(threshold * float64(na+nb) / (1 + threshold)); estimate < float64(n) {
		n = max(int(estimate), 0)
	}
	for n > 0 && reached(n-1) {
		n--
	}
	for n <= most && !reached(n) {
		n++
	}
	return n
}
