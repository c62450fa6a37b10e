package scoring

import (
	"slices"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/sketch"
)

// weigher tells how rare it is what two documents share. It reuses its buffers.
type weigher struct {
	rarities *common.Rarities

	inA, inB, shared []uint64
}

// rarity returns the sum of the rarities of the distinct shingles that lie in one of the spans in both texts.
func (r *weigher) rarity(a, b *sketch.IndexedSequence, spans []sketch.Span) (sum uint32) {
	r.shared = r.shared[:0]
	for _, s := range spans {
		r.inA, r.inB = within(r.inA[:0], a, s.StartA, s.EndA), within(r.inB[:0], b, s.StartB, s.EndB)
		r.shared = appendBoth(r.shared, r.inA, r.inB)
	}
	slices.Sort(r.shared)
	for _, shingle := range slices.Compact(r.shared) {
		sum += r.rarities.Of(shingle)
	}
	return sum
}

// within returns the distinct shingles of a stretch of a text, ascending, in the given memory.
func within(memory []uint64, q *sketch.IndexedSequence, start, end uint32) []uint64 {
	first, _ := slices.BinarySearch(q.Starts, start)
	for i := first; i < q.Len() && q.Ends[i] <= end; i++ {
		memory = append(memory, q.Shingles[i])
	}
	slices.Sort(memory)
	return slices.Compact(memory)
}

// appendBoth appends the hashes that are in both sets, which ascend.
func appendBoth(both, a, b []uint64) []uint64 {
	for _, hash := range a {
		for len(b) > 0 && b[0] < hash {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == hash {
			both = append(both, hash)
		}
	}
	return both
}
