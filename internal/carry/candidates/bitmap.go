package candidates

import (
	"slices"

	"mirrorbeam/asmkernels"
)

// A bitmap stands for a set that is not at hand. Each element flips one bit, so an element that two sets have in common
// makes no difference: the bitmaps differ in no more bits than the sets in elements. If they differ in too many, the sets
// are not similar. This is the bitmap filter of set-similarity joins (Sandes, Teodoro and Melo, Bitmap filter: speeding up
// exact set similarity joins with bitwise operations, 2020).

// Bitmap is the bitmap of a document in a key record. It tells documents of up to some 300 shingles apart.
type Bitmap [2]uint64

// BitmapOf returns the bitmap of a set of hashes.
func BitmapOf(set []uint64) (b Bitmap) {
	Flip(b[:], set, 0)
	return b
}

// Flip flips the bits of a set of hashes in a bitmap, which has any number of words. The hashes have 48 bits, enough for two
// bitmaps: number 0 and number 1.
func Flip(bitmap, set []uint64, number int) {
	for _, hash := range set {
		hash >>= 22 * number
		bitmap[hash>>6&0xffff*uint64(len(bitmap))>>16] ^= 1 << (hash & 63)
	}
}

// rounding is what a bound of elements allows for errors of rounding: no pair must be lost.
const rounding = 1e-6

// MostDiffering returns the largest number of elements in which two sets may differ and still have a Jaccard similarity of the
// threshold. Together is the sum of their sizes.
func MostDiffering(together int, threshold float64) int {
	return int(((1-threshold)*float64(together) + rounding) / (1 + threshold))
}

// mayDiffer reports whether two sets may differ in a number of elements, as MostDiffering says. It does not divide.
func mayDiffer(elements, together int, threshold float64) bool {
	return float64(elements)*(1+threshold) <= (1-threshold)*float64(together)+rounding
}

// bitmapRows holds the bitmaps of a group, one behind the other, and compares one with all that follow.
type bitmapRows struct {
	bitmaps   []uint64
	distances []uint16
}

func (b *bitmapRows) read(group []Record) {
	b.bitmaps = b.bitmaps[:0]
	if !slices.ContainsFunc(group, func(r Record) bool { return r.HasBitmap }) {
		return
	}
	for i := range group {
		bitmap := group[i].bitmap() // of no meaning if there is none
		b.bitmaps = append(b.bitmaps, bitmap[:]...)
	}
}

// row returns in how many bits the bitmap of record i differs from each one behind it, up to the limit. It returns nil if
// the record has none.
func (b *bitmapRows) row(group []Record, i, limit int) []uint16 {
	if !group[i].HasBitmap || limit <= i+1 {
		return nil
	}
	const words = len(Bitmap{})
	b.distances = slices.Grow(b.distances[:0], limit)[:limit-i-1]
	asmkernels.Hamming(b.distances, b.bitmaps[words*i:][:words], b.bitmaps[words*(i+1):words*limit])
	return b.distances
}
