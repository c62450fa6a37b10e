//go:build arm64 && !purego

package asmkernels

import "unsafe"

const (
	// intersectLanesNEON is the number of elements of a set that the kernels compare at once, and intersectStepsNEON
	// the number of their steps between two looks at the bound.
	intersectLanesNEON = 4
	intersectStepsNEON = 16
)

func intersect64(a, b []uint64, need int) int { return intersect(a, b, need) }

func intersect32(a, b []uint32, need int) int { return intersect(a, b, need) }

func intersect[E uint32 | uint64](a, b []E, need int) int {
	if tier < NEON || areUneven(len(a), len(b), gallopRatio) {
		return intersectGo(a, b, need)
	}
	common := 0
	for left := min(len(a), len(b)); left >= intersectLanesNEON; left = min(len(a), len(b)) {
		if common+left < need {
			return common
		}
		i, j, found := intersectBlocks(a, b)
		a, b = a[i:], b[j:]
		common += found
	}
	return mergeOne(a, b, common, need)
}

// intersectBlocks counts the common elements of a[:i] and b[:j], for an i and a j as far as the kernel comes. Both sets
// have as many elements as it compares at once.
func intersectBlocks[E uint32 | uint64](a, b []E) (i, j, common int) {
	if unsafe.Sizeof(*new(E)) == 4 {
		return intersectBlocks32NEON(sameAs[uint32](a), sameAs[uint32](b), intersectStepsNEON)
	}
	return intersectBlocks64NEON(sameAs[uint64](a), sameAs[uint64](b), intersectStepsNEON)
}

// intersectBlocks64NEON is intersectBlocks, and does up to the given number of steps.
//
//go:noescape
func intersectBlocks64NEON(a, b []uint64, steps int) (i, j, common int)

// intersectBlocks32NEON is intersectBlocks64NEON for elements of 32 bits.
//
//go:noescape
func intersectBlocks32NEON(a, b []uint32, steps int) (i, j, common int)

func markBitmaps(marks []uint8, query *bitmapQuery, blocks []uint64) {
	if tier < NEON || len(marks) == 0 {
		markBitmapsGo(marks, query, blocks)
		return
	}
	markBitmapsNEON(marks, (*[bitmapWords + 4]uint64)(query), blocks)
}

// markBitmapsNEON is markBitmapsGo for one block or more, and for fingerprints of fewer than 2^31 elements.
//
//go:noescape
func markBitmapsNEON(marks []uint8, query *[bitmapWords + 4]uint64, blocks []uint64)
