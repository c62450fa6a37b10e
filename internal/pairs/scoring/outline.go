package scoring

import (
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
)

// outline is what most pivots of a hot group are ruled out by: two bitmaps of a set, each a line of the processor's
// cache. They tell sets of up to some 1,000 shingles apart. The second one takes other bits of the hashes. It is for
// sets that differ in just more shingles than the threshold allows: one in six of these passes the first one, since two
// shingles flip the same bit.
type outline [2][outlineWords]uint64

const outlineWords = 8

func outlineOf(d *document) (o outline) {
	for i := range o {
		candidates.Flip(o[i][:], d.set, i)
	}
	return o
}

// outlines are the sizes and outlines of the pivots of a hot group. They lie apart from the pivots, which are in
// nobody's cache.
type outlines struct {
	sizes     []int
	bitmaps   [2][]uint64
	distances []uint16
}

func (o *outlines) add(d *document) {
	o.sizes = append(o.sizes, d.size)
	for i, bitmap := range outlineOf(d) {
		o.bitmaps[i] = append(o.bitmaps[i], bitmap[:]...)
	}
}

// near returns in how many bits the first bitmap of each pivot of a list differs from the given one.
func (o *outlines) near(own *outline, list []graphs.Pivot) []uint16 {
	const many = 8 // pivots in a row, which the kernel compares faster
	o.distances = slices.Grow(o.distances[:0], len(list))[:len(list)]
	for i, end := 0, 0; i < len(list); i = end {
		for end = i + 1; end < len(list) && list[end] == list[end-1]+1; {
			end++
		}
		if end-i >= many {
			asmkernels.Hamming(o.distances[i:end], own[0][:],
				o.bitmaps[0][int(list[i])*outlineWords:(int(list[end-1])+1)*outlineWords])
			continue
		}
		for k, pivot := range list[i:end] {
			o.distances[i+k] = uint16(o.distance(0, pivot, own))
		}
	}
	return o.distances
}

// distance returns in how many bits a bitmap of a pivot differs from the given one.
func (o *outlines) distance(bitmap int, pivot graphs.Pivot, own *outline) (differing int) {
	for i, word := range o.bitmaps[bitmap][int(pivot)*outlineWords:][:outlineWords] {
		differing += bits.OnesCount64(word ^ own[bitmap][i])
	}
	return differing
}

// mostDiffering returns in how many shingles, and so in how many bits of an outline, two documents of these sizes
// differ at most if they are alike, or -1 if they cannot be alike. An estimate, which is of parts of sets, may be too
// large: it bounds nothing.
func (s *Similarity) mostDiffering(a, b int) int {
	switch {
	case !s.sizesAllow(min(a, b), max(a, b)):
		return -1
	case s.Smallest != 0:
		return a + b
	}
	return candidates.MostDiffering(a+b, s.Threshold)
}
