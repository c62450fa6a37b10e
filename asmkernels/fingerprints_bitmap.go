package asmkernels

import (
	"math"
	"math/bits"
)

const (
	// bitmapWords is the number of words of 64 bits in a bitmap. A bitmap of
	// 512 bits leaves hardly a pair of fingerprints of 128 random elements.
	bitmapWords = 8

	// blockLanes is the number of fingerprints in a block, as many as the
	// largest vectors have lanes.
	blockLanes = 8

	// blockWords is the length of a block.
	blockWords = (bitmapWords + 2) * blockLanes

	// tile is the number of fingerprints whose bitmaps are compared with one
	// after the other, 20 KB: they stay in the first cache.
	tile = 256

	// bitmapFactor spreads the elements over the bits, as the smallest of all
	// hashes have small upper bits.
	bitmapFactor = 0x9e3779b1
	bitmapShift  = 32 - 9

	slopeBits = 16
)

// A bitmap has the words of a set's bitmap, the number of elements that share
// their bit with one before, and the number of all elements. A block of fingerprints
// has a row for each of these with a lane for each fingerprint.
type bitmap [bitmapWords + 2]uint64

// The numbers behind the words of a bitmap.
const (
	inCollisions = bitmapWords
	inSize       = bitmapWords + 1
)

func newBitmap[E uint32 | uint64](fingerprint []E) (b bitmap) {
	for _, x := range fingerprint {
		bit := uint32(x) * bitmapFactor >> bitmapShift
		b[bit/64] |= 1 << (bit % 64)
	}
	ones := 0
	for _, word := range b[:bitmapWords] {
		ones += bits.OnesCount64(word)
	}
	b[inCollisions] = uint64(len(fingerprint) - ones)
	b[inSize] = uint64(len(fingerprint))
	return b
}

// bitmap returns the bitmap of a fingerprint.
func (f *Fingerprints[E]) bitmap(i int) (b bitmap) {
	block := f.blocks[i/blockLanes*blockWords:][:blockWords]
	for row := range b {
		b[row] = block[row*blockLanes+i%blockLanes]
	}
	return b
}

// A bitmapQuery is a bitmap and which bounds to mark. It needs slope * n / 2^16
// common elements of a set that makes for n elements with its own, but never
// more than most.
type bitmapQuery [bitmapWords + 4]uint64

// The numbers behind the bitmap.
const (
	inSlope = bitmapWords + 2
	inMost  = bitmapWords + 3
)

// bitmapQuery returns the query for a bitmap. It needs as much as compare does,
// or less.
func (s *search[E]) bitmapQuery(b *bitmap) (q bitmapQuery) {
	copy(q[:], b[:])
	q[inSlope], q[inMost] = s.slope, math.MaxInt32
	if s.estimator == UnionSample {
		q[inMost] = uint64(s.sample)
	}
	return q
}

// bitmapSlope returns the slope for a threshold t, t/(1+t) rounded down: so
// many of the elements of both sets must be common for a similarity of t.
func bitmapSlope(t float64) uint64 {
	switch {
	case t <= 0:
		return 0
	case t <= 1:
		return uint64(t / (1 + t) * (1 << slopeBits))
	default: // out of reach, or not a number
		return 1 << slopeBits
	}
}

// markBitmapsGo sets the bit of every fingerprint in the blocks, whose marks
// are one byte each, to whether it may have as many elements in common with the
// set of the query as that needs. Every common element has its bit in both
// bitmaps; with a bit of its own, or sharing it with others in both sets. So
// there are at most as many as the bitmaps have bits in common, and collisions
// in the set that has fewer.
func markBitmapsGo(marks []uint8, query *bitmapQuery, blocks []uint64) {
	for i := range marks {
		block := (*[blockWords]uint64)(blocks[i*blockWords:])
		var mark uint8
		for lane := range blockLanes {
			bound := min(query[inCollisions], block[inCollisions*blockLanes+lane])
			for row, word := range query[:bitmapWords] {
				bound += uint64(bits.OnesCount64(word & block[row*blockLanes+lane]))
			}
			need := (query[inSize] + block[inSize*blockLanes+lane]) * query[inSlope] >> slopeBits
			if bound >= min(need, query[inMost]) {
				mark |= 1 << lane
			}
		}
		marks[i] = mark
	}
}
