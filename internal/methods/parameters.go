package methods

import (
	"mirrorbeam/internal/groups"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

// Parameters are what a method may know of a job.
type Parameters struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Shards is over how many shards keys are spread, at least 1. It changes no result.
	Shards int
	// Threshold is the least similarity of interest, above 0 and at most 1.
	Threshold float64
	// Shingle is the number of words in a shingle.
	Shingle int
	// Scheme is that of the bands of MinHash signatures; without bands for others.
	Scheme lshbands.Scheme
	// SimHashBits is the length of SimHash fingerprints, Distance the largest Hamming
	// distance of two of them that share a key.
	SimHashBits, Distance int
	// Scoring is what makes two documents near-duplicates.
	Scoring Scoring
	// AllPairsUpTo is up to how many documents all pairs of a corpus are compared if the
	// method is Ordered, which is cheaper there and finds the same; 0: never.
	AllPairsUpTo int64
	// Bounds say what is compared of documents that are much alike.
	Bounds groups.Bounds
}

// SmallCorpus is the number of documents up to which a corpus is compared fully, whatever
// its groups are.
const SmallCorpus = groups.SmallCorpus

// isSmall reports whether all pairs of a corpus are compared in place of those that an
// ordered method finds.
func (p *Parameters) isSmall(counts work.Counts) bool {
	return counts.Documents+counts.ReferenceDocuments <= p.AllPairsUpTo
}
