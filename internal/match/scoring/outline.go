package scoring

import (
	"math/bits"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/ground/graphs"
)

// outline is what most leaders of a heap are ruled out by: two bitmaps of a set, each a line of the processor's cache. They tell
// sets of up to some 1,000 shingles apart. The second one takes other bits of the hashes. It is for sets that differ in just more
// shingles than the threshold allows: one in six of these passes the first one, since two shingles flip the same bit.
type outline [2][outlineWords]uint64

const outlineWords = 8

// outlineOf returns the outline of a document.
func outlineOf(d *document) (o outline) {
	for i := range o {
		candidates.Flip(o[i][:], d.set, i)
	}
	return o
}

// outlines are the sizes and outlines of the leaders of a heap. They lie apart from the leaders, which are in nobody's cache.
type outlines struct {
	sizes     []int
	bitmaps   [2][]uint64
	distances []uint16
}

// add adds the next leader.
func (o *outlines) add(d *document) {
	o.sizes = append(o.sizes, d.size)
	for i, bitmap := range outlineOf(d) {
		o.bitmaps[i] = append(o.bitmaps[i], bitmap[:]...)
	}
}

// run cuts leaders that nearly follow one another from the front of a list. It returns in how many bits the first bitmap of
// each leader from run[0] on differs from the given one.
func (o *outlines) run(own *outline, list []graphs.Leader) (run, rest []graphs.Leader, distances []uint16) {
	const gap = 4 // that many leaders are compared in less time than a new run begins
	n := 1
	for n < len(list) && list[n]-list[n-1]-1 < gap {
		n++
	}
	first, end := int(list[0]), int(list[n-1])+1
	o.distances = append(o.distances[:0], make([]uint16, end-first)...)
	asmkernels.Hamming(o.distances, own[0][:], o.bitmaps[0][first*outlineWords:end*outlineWords])
	return list[:n], list[n:], o.distances
}

// distance returns in how many bits the second bitmap of a leader differs from the given one.
func (o *outlines) distance(leader graphs.Leader, own *outline) (differing int) {
	for i, word := range o.bitmaps[1][int(leader)*outlineWords:][:outlineWords] {
		differing += bits.OnesCount64(word ^ own[1][i])
	}
	return differing
}

// mostDiffering returns in how many shingles, and so in how many bits of an outline, two documents of these sizes differ at most if
// they are alike, or -1 if they cannot be alike. An estimate, which is of parts of sets, may be too large: it bounds nothing.
func (s *Similarity) mostDiffering(a, b int) int {
	switch {
	case !s.sizesAllow(min(a, b), max(a, b)):
		return -1
	case s.Smallest != 0:
		return a + b
	}
	return candidates.MostDiffering(a+b, s.Threshold)
}
