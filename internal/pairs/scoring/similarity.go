package scoring

import (
	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/sketch"
)

type Similarity struct {
	// Threshold is the least Jaccard similarity of two sets that are alike, from 0 to 1.
	Threshold float64
	// Smallest, if not 0, is how many hashes of each set come: the smallest, or all if there are fewer. The similarity is
	// then an estimate.
	Smallest int
	// AcceptsAll makes every candidate pair an edge, whatever the estimate is. It applies only where similarities are
	// estimates.
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

// sizesAllow reports whether two documents of these sizes could reach the threshold, if the larger set contained the smaller
// one.
func (s *Similarity) sizesAllow(smaller, larger int) bool {
	return smaller == larger || float64(smaller)/float64(larger) >= s.Threshold
}
