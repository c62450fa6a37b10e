package clusters

import (
	"math"

	"mirrorbeam.dev/internal/schema/findings"
)

// AddLost counts the shingles that are lost with the removed documents of the shard, which must be decided. All edges
// must have scores of whole sets. Where clusters go as a whole, there is no kept document to compare with.
func (s *Shard) AddLost(o *findings.Findings) {
	if !s.isDecided() || s.IsDropped() {
		return
	}
	var lost findings.Lost
	for i := range s.end() {
		choice := s.choice(i)
		if choice.Kept == i {
			continue
		}
		size, gone := int64(s.members.Size(i)), int64(0)
		if s.isNear(i, choice) {
			gone = size - shared(size, int64(s.members.Size(choice.Kept)), choice.Similarity)
		}
		of := s.members.Source(i)
		o.Sources.LostOf.Add(of, size)
		o.Sources.Lost.Add(of, gone)
		lost.Of += size
		lost.Shingles += gone
		if gone == 0 {
			continue
		}
		lost.Documents++
		if worst := (findings.LostText{Shingles: gone, Of: size}); worst.Compare(lost.Worst) <= 0 {
			worst.Removed, worst.Kept = s.name(i), s.name(choice.Kept)
			findings.Merge(&lost.Worst, worst)
		}
	}
	if lost.Of > 0 {
		findings.Merge(&o.Lost, &lost)
	}
}

// shared returns how many shingles two sets share, given their sizes and their Jaccard similarity.
func shared(a, b int64, similarity float64) int64 {
	return int64(math.Round(similarity / (1 + similarity) * float64(a+b)))
}
