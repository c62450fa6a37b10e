package scoring

import (
	"math/bits"

	"mirrorbeam/internal/carry/candidates"
)

// outline is what most leaders of a heap are ruled out by: the size and a bitmap of a set. It tells sets of up to some
// 1,000 shingles apart. It fills a line of the processor's cache.
type outline struct {
	size   int
	bitmap [7]uint64
}

// outlineOf returns the outline of a document.
func outlineOf(d *document) outline {
	o := outline{size: d.size}
	candidates.Flip(o.bitmap[:], d.set)
	return o
}

// rulesOut reports whether the outlines of two sets rule out that they are alike. Estimates, which are of parts of sets, may
// say otherwise.
func (s *Similarity) rulesOut(a, b *outline) bool {
	differing := 0
	for i := range a.bitmap {
		differing += bits.OnesCount64(a.bitmap[i] ^ b.bitmap[i])
	}
	return s.Smallest == 0 && !candidates.MayDiffer(differing, a.size+b.size, s.Threshold)
}
