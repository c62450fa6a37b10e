package plan

import (
	"math"
	"slices"

	"mirrorbeam/internal/sample"
	"mirrorbeam/lshbands"
)

// How many exact keys a document has depends on how many of its shingles other documents
// have. A sample shows few of them: with each doubling of the sample more are found, and
// are taken to be found further as in the last doubling. Besides, a counter takes a
// shingle for one that others have if another one shares its cell, which is likely.

// cellsPerLine is how many cells a line of a counter has, of shinglesPerLine that it is
// made for.
const (
	cellsPerLine    = 192
	shinglesPerLine = 256
)

// spread is how much documents differ in the share of their shingles that others have,
// beyond chance: 0 not at all, 1 where others have all or nothing.
const spread = 0.35

// exactKeys returns the mean number of exact keys of a document, in a corpus of so many
// shingles that these documents are a share of. Copied documents are a share of the
// corpus; most partners of theirs are not in the sample, and all their shingles are
// those of others.
func exactKeys(documents []sample.Document, share, threshold, shingles, copied float64) float64 {
	half := slices.DeleteFunc(slices.Clone(documents), func(d sample.Document) bool {
		return d.Hash > uint64(share*math.MaxInt64)
	})
	now, before := newSharing(documents), newSharing(half)
	doublings := math.Log2(1 / share)
	// Of the shingles that are unique in the sample, those that are not in the corpus.
	found := now.shared() + (now.shared()-before.shared())*doublings
	stay := min(max((1-found)/max(1-now.shared(), 1e-9), 0), 1)
	distinct := now.distinct * math.Pow(max(now.distinct/max(before.distinct, 1), 1), doublings)
	stay *= math.Exp(-distinct / cellsOf(shingles))
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

// cellsOf returns how many cells the counter for so many shingles has.
func cellsOf(shingles float64) float64 {
	return float64(len(lshbands.NewCounter(int64(shingles)).Bytes())) / 64 * cellsPerLine
}

// expectedAbove returns the mean of what is above 0 of a normal distribution.
func expectedAbove(mean, deviation float64) float64 {
	if deviation == 0 {
		return max(mean, 0)
	}
	z := mean / deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return mean*math.Erfc(-z/math.Sqrt2)/2 + deviation*density
}

// sharing tells which shingles of documents others of them have.
type sharing struct {
	unique       []int // by document
	all, uniques float64
	distinct     float64
}

// spareCells is how many times the cells of a job make it unlikely that shingles share
// one.
const spareCells = 8

func newSharing(documents []sample.Document) sharing {
	var s sharing
	shingles := 0
	for i := range documents {
		shingles += len(documents[i].Set) * min(documents[i].Copies, mostCopies)
	}
	order := count(documents, int64(shingles*spareCells))
	prefix := lshbands.NewPrefixKeys(order, math.SmallestNonzeroFloat32)
	for i := range documents {
		d := &documents[i]
		unique := len(d.Set) - len(prefix.Of(d.Set))
		s.unique = append(s.unique, unique)
		s.all += float64(len(d.Set) * d.Copies)
		s.uniques += float64(unique * d.Copies)
	}
	s.distinct = s.uniques + (s.all-s.uniques)/sharers
	return s
}

// sharers is about how many documents have a shingle that is not of one alone.
const sharers = 4

// shared returns the share of the shingles that others have.
func (s *sharing) shared() float64 { return 1 - s.uniques/max(s.all, 1) }
