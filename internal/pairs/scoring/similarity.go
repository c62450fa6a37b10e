package scoring

import (
	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/sketch"
)

// Similarity says when two sets are alike.
type Similarity struct {
	// Threshold is the least Jaccard similarity of two sets that are alike, from 0 to 1.
	Threshold float64
	// Smallest, if not 0, is how many of the smallest hashes of each set come. The similarity is then an estimate.
	Smallest int
	// AcceptsAll makes every candidate pair an edge, whatever its similarity, where that is an estimate.
	AcceptsAll bool
}

// compare returns the score of two documents, and whether an edge joins them.
func (s *Similarity) compare(a, b *document) (records.Score, bool) {
	if s.Smallest == 0 {
		need := asmkernels.Required(s.Threshold, a.size, b.size)
		shared := asmkernels.Intersect(a.set, b.set, need)
		score := records.NewScore(shared, a.size+b.size-shared, false)
		if shared < need || len(a.common)+len(b.common) == 0 {
			return score, shared >= need
		}
		shared += asmkernels.Intersect(a.common, b.common, 0)
		score.WholeShared, score.WholeTotal = uint32(shared), uint32(a.size+len(a.common)+b.size+len(b.common)-shared)
		return score, true
	}
	shared, union, exact := sketch.Overlap(a.set, b.set, a.size, b.size, s.Smallest)
	return records.NewScore(shared, union, !exact), s.AcceptsAll || float64(shared)/float64(union) >= s.Threshold
}

// sizesAllow reports whether two sets of these sizes reach the threshold if the larger one contains the smaller.
func (s *Similarity) sizesAllow(smaller, larger int) bool {
	return smaller == larger || float64(smaller)/float64(larger) >= s.Threshold
}
