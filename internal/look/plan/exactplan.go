package plan

import (
	"bytes"
	"math"
	"slices"

	"mirrorbeam/internal/look/sample"
	"mirrorbeam/lshbands"
)

// The number of exact keys of a document depends on how many of its shingles other documents have. A sample shows only
// few of these. Each doubling of the sample shows more; further doublings are assumed to show as many more as the last
// one. Also, a counter takes a shingle for a common one if another shingle shares its cell.

// spread says how much documents differ, beyond chance, in the share of their shingles that others have: 0 not at all,
// 1 where others have all or nothing.
const spread = 0.55

// exactKeys returns the mean number of exact keys of a document in a corpus of the given number of shingles, of which
// these documents are a share. Copied is the share of the corpus that is copied documents: most of their partners are
// not in the sample, and other documents have all of their shingles.
func exactKeys(documents []sample.Document, share, threshold, shingles, copied float64) float64 {
	half := slices.DeleteFunc(slices.Clone(documents), func(d sample.Document) bool {
		return d.Hash > uint64(share*math.MaxInt64)
	})
	now, before := newSharing(documents), newSharing(half)
	doublings := math.Log2(1 / share)
	// The shingles that are unique in the sample but not in the corpus count as found.
	found := now.shared() + (now.shared()-before.shared())*doublings
	stay := min(max((1-found)/max(1-now.shared(), 1e-9), 0), 1)
	distinct := now.distinct * math.Pow(max(now.distinct/max(before.distinct, 1), 1), doublings)
	stay *= math.Exp(-distinct / lshbands.Cells(shingles))
	sum, longest, copies := 0., 0., 0.
	for i := range documents {
		d := &documents[i]
		length := float64(lshbands.PrefixLength(threshold, len(d.Set)))
		unique := float64(now.unique[i])
		deviation := math.Sqrt((unique + spread*spread*unique*unique) * stay * (1 - stay))
		sum += float64(d.Copies) * expectedAbove(length-unique*stay, deviation)
		longest += float64(d.Copies) * length
		copies += float64(d.Copies)
	}
	return min(sum+(longest-sum)*copied, longest) / max(copies, 1)
}

// expectedAbove returns the mean of the part above 0 of a normal distribution.
func expectedAbove(mean, deviation float64) float64 {
	if deviation == 0 {
		return max(mean, 0)
	}
	z := mean / deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return mean*math.Erfc(-z/math.Sqrt2)/2 + deviation*density
}

type sharing struct {
	unique       []int // number of unique shingles by document
	all, uniques float64
	distinct     float64
}

// spareCells is the factor by which a counter has more cells than a job's, so that shingles are unlikely to share one.
const spareCells = 2

func newSharing(documents []sample.Document) sharing {
	var s sharing
	shingles := 0
	for i := range documents {
		shingles += len(documents[i].Set) * min(documents[i].Copies, mostCopies)
	}
	order := count(documents, shingles*spareCells)
	var frequencies []byte
	for i := range documents {
		d := &documents[i]
		frequencies = order.AppendFrequencies(frequencies[:0], d.Set)
		unique := bytes.Count(frequencies, []byte{0})
		s.unique = append(s.unique, unique)
		s.all += float64(len(d.Set) * d.Copies)
		s.uniques += float64(unique * d.Copies)
	}
	s.distinct = s.uniques + (s.all-s.uniques)/sharers
	return s
}

// sharers is about how many documents have a shingle, if more than one has.
const sharers = 4

// shared returns the share of the shingles that others have.
func (s *sharing) shared() float64 { return 1 - s.uniques/max(s.all, 1) }
