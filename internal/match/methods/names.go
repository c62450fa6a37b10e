package methods

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
	// All compares every document with every other whose size allows the threshold. It is the yardstick, for small
	// corpora.
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
