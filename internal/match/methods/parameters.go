package methods

import (
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Parameters are the settings of a job that a method may read.
type Parameters struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Shards is the number of shards over which keys are spread, at least 1. It changes no result.
	Shards int
	// Threshold is the least similarity of interest, above 0 and at most 1.
	Threshold float64
	// Shingle is the number of words in a shingle.
	Shingle int
	// Passage is the number of words in the passages under which documents meet, 0 for [PassageWords].
	Passage int
	// Scheme is the scheme of the bands of MinHash signatures; other methods have no bands.
	Scheme lshbands.Scheme
	// SimHashBits is the length of SimHash fingerprints. Distance is the largest Hamming distance for which two of them
	// are certain to share a key.
	SimHashBits, Distance int
	// Blocks are the blocks of the permuted tables of SimHash fingerprints; empty: as [lshbands.PlanTables] chooses them.
	Blocks []int
	// Scoring is what makes two documents near-duplicates.
	Scoring Scoring
	// Verify is what evidence edges rest on.
	Verify Verification
	// HasSides says that documents have sides: two of one side are not compared.
	HasSides bool
	// AllPairsUpTo is the largest number of documents for which an Ordered method compares all pairs of the corpus.
	// That is cheaper for few documents and finds the same. 0: never.
	AllPairsUpTo int64
	// Bounds say which pairs of very similar documents are compared.
	Bounds groups.Bounds
	// Verdicts is the path of a table of the similar pairs of the last run of a scheduled job, if that has compared all
	// candidates of its documents; empty otherwise.
	Verdicts work.Path
	// Narrowed says that blocks hold nothing of some documents: these have no new pairs.
	Narrowed bool

	settled *groups.Settled
}

// passageWords returns the number of words that a key of [Passages] covers, unless a shingle has more.
func (p *Parameters) passageWords() int {
	if p.Passage == 0 {
		return PassageWords
	}
	return p.Passage
}

// MostParts is the largest number of parts of the similarity graph that the tasks of a [Grouping] make, and the one of
// [groups.Known], given the number of shards. The numbers of the parts are below it.
func MostParts(shards int) int { return 2*shards + 1 }

// SmallCorpus is the number of documents up to which a corpus is compared fully, whatever its groups are.
const SmallCorpus = groups.SmallCorpus

// fingerprintSize returns the size of a SimHash fingerprint in a record, in bytes.
func (p *Parameters) fingerprintSize() int { return 8 * sketch.SimHashWords(p.SimHashBits) }

// tables returns the permuted tables of SimHash fingerprints.
func (p *Parameters) tables() (*lshbands.Permuted, error) {
	return lshbands.PlanTables(p.SimHashBits, p.Distance, p.Blocks...)
}

// isSmall reports whether all pairs of a corpus are compared, in place of those that an ordered method finds.
func (p *Parameters) isSmall(counts findings.Counts) bool {
	return counts.Documents+counts.ReferenceDocuments <= p.AllPairsUpTo
}
