package methods

import (
	"cmp"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Parameters are the settings of a job that a method may read.
type Parameters struct {
	Inputs work.Path
	// Shards is the number of shards over which keys are spread, at least 1. It changes no result.
	Shards int
	// CountBytes is how many bytes of shingles a task that counts them may hold; 0: some megabytes. It changes no
	// result.
	CountBytes int64
	// KeyBytes is how many bytes of key records a task may hold; 0: some megabytes. It changes no result.
	KeyBytes int64
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
	// Blocks are the blocks of the permuted tables of SimHash fingerprints; empty: as [lshbands.PlanTables] chooses
	// them.
	Blocks []int
	// Scoring is what makes two documents near-duplicates.
	Scoring Scoring
	Verify  Verification
	// HasSides says that documents have sides: two of one side are not compared.
	HasSides bool
	// AllPairsUpTo is the largest number of documents for which an Ordered method compares all pairs of the corpus.
	// That is cheaper for few documents and finds the same. 0: never.
	AllPairsUpTo int64
	// Bounds say which pairs of very similar documents are compared.
	Bounds groups.Bounds
	// CachedPairs is the path of a table of the similar pairs of the last run of a scheduled job, if that has compared
	// all candidates of its documents; empty otherwise.
	CachedPairs work.Path
	// Paired is the path of a table of all similar pairs of the last run, whether or not this run needs to find them
	// once more; where passages are looked for, of the run file of [cached.Passages]. It is empty if this run cannot
	// use it.
	Paired work.Path
	// Pruned says that blocks hold nothing of some documents: these have no new pairs. DistinctIDs says that no two
	// documents of the last run share an id.
	Pruned, DistinctIDs bool
	// SharedIDs is the path of a run file with the hashes of the ids that several of these share, "" if nobody knows
	// them.
	SharedIDs work.Path
	// TellsLasting says that the next run of a scheduled job is to know which keys concern it whatever comes and goes;
	// see [groups.Keyed].
	TellsLasting bool

	unchanged, reused documents.Unchanged // as in groups.Keyed

	// from which size on a shard of SimHash keys is large, in bytes; 0 for what is usual. Only tests say another one
	large int64
}

// HasPairs reports whether the pairs of two unchanged documents come from the last run, so that no stage forms them.
func (p *Parameters) HasPairs() bool { return p.Pruned && p.CachedPairs != "" }

// passageWords returns the number of words that a key of [Passages] covers, unless a shingle has more.
func (p *Parameters) passageWords() int { return cmp.Or(p.Passage, PassageWords) }

// PassageShingles returns the number of shingles in the passages under which documents meet.
func (p *Parameters) PassageShingles() int { return max(p.passageWords()-p.Shingle+1, 1) }

// SmallCorpus is the number of documents up to which a corpus is compared fully, whatever its groups are.
const SmallCorpus = groups.SmallCorpus

// fingerprintSize returns the size of a SimHash fingerprint in a record, in bytes.
func (p *Parameters) fingerprintSize() int { return 8 * sketch.SimHashWords(p.SimHashBits) }

// Tables returns the permuted tables of SimHash fingerprints.
func (p *Parameters) Tables() (*lshbands.Permuted, error) {
	return lshbands.PlanTables(p.SimHashBits, p.Distance, p.Blocks...)
}

// isSmall reports whether all pairs of a corpus are compared, instead of those that an ordered method finds.
func (p *Parameters) isSmall(counts findings.Counts) bool {
	return counts.Documents+counts.ReferenceDocuments <= p.AllPairsUpTo
}

// Name names a method that brings possibly similar documents together.
type Name string

const (
	// Auto stands for MinHash, or for the method that other settings ask for.
	Auto Name = "auto"
	// MinHash compares documents that share a band of their MinHash signatures.
	MinHash Name = "minhash"
	// Exact compares documents that share one of their rarest shingles: a prefix filter, which misses no pair.
	Exact Name = "exact"
	// SimHash compares documents whose SimHash fingerprints share a prefix in one of several permutations. It misses no
	// pair within the distance.
	SimHash Name = "simhash"
	// All compares all documents whose sizes allow the threshold. It is the yardstick, for small corpora.
	All Name = "all"
	// SameBytes joins documents whose texts have the same bytes, and SameWords those whose texts have the same words in
	// the same order. They join no others.
	SameBytes Name = "same-bytes"
	SameWords Name = "same-words"
	// Passages compares documents that share a passage which winnowing selects. It goes with Containment.
	Passages Name = "passages"
)

// Similarity says what makes two documents worth a row.
type Similarity string

const (
	// Resemblance joins documents that are mostly the same to clusters.
	Resemblance Similarity = "jaccard"
	// Containment reports pairs where one contains much of the other, or a passage of it, and where.
	Containment Similarity = "containment"
)

// Similarities, Scorings and Verifications are the values that a job may have.
var (
	Similarities  = []Similarity{Resemblance, Containment}
	Scorings      = []Scoring{AutoScoring, Jaccard, Hamming}
	Verifications = []Verification{VerifyExact, VerifySketch, VerifyNone}
)

// Verification says what evidence an edge rests on.
type Verification string

const (
	// VerifyExact compares the full shingle sets of every candidate pair.
	VerifyExact Verification = "exact"
	// VerifySketch estimates the similarity from the smallest hashes of both.
	VerifySketch Verification = "sketch"
	// VerifyNone takes every candidate pair for an edge; similarities are estimates.
	VerifyNone Verification = "none"
)

// Scoring is what makes two documents near-duplicates.
type Scoring string

const (
	// AutoScoring is Hamming with SimHash keys, else Jaccard.
	AutoScoring Scoring = "auto"
	// Jaccard is the share of common shingles among the shingles of either document.
	Jaccard Scoring = "jaccard"
	// Hamming is the number of bits in which their SimHash fingerprints differ.
	Hamming Scoring = "hamming"
)
