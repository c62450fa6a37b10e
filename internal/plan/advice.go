package plan

import (
	"mirrorbeam/internal/methods"
	"mirrorbeam/lshbands"
)

// Advice is a ranking of the ways to find candidates. What a job does depends on
// its configuration only; this tells what other configurations would bring.
type Advice struct {
	Config Config `json:"config"`
	// Corpus is what was found in the input; nil without one.
	Corpus *Facts `json:"corpus,omitempty"`
	// Choices are ranked, the cheapest first.
	Choices []Choice `json:"choices"`
	// Chosen is the place in Choices of what the configuration stands for; -1 where
	// only an input would tell what that takes.
	Chosen int `json:"chosen"`
	// Best is the place of the cheapest choice that fits and finds a pair at the
	// threshold as surely as the configuration asks for; -1 where there is none.
	Best int `json:"best"`
	// Cheaper and Safer are the places of the next choices that find a pair at the
	// threshold less surely at a lower price, and more surely; -1 where there is
	// none.
	Cheaper int `json:"cheaper"`
	Safer   int `json:"safer"`
	// Curve is the S-curve of Bands, those of the configuration or those that it
	// would have if it asked for MinHash; none of SimHash keys.
	Bands lshbands.Scheme `json:"curve_of,omitzero"`
	Curve []Point         `json:"curve,omitempty"`
	// Distances is about how many pairs of the corpus have fingerprints that differ
	// in none, one and more bits, up to one more than asked for; nil for other keys.
	Distances []float64 `json:"distances,omitempty"`
}

// Choice is a choice and what the corpus says of it.
type Choice struct {
	Keys methods.Name `json:"keys"`
	lshbands.Choice
	// Flags are what makes 'runjob run' take it, in place of other flags of keys;
	// empty for that of the configuration.
	Flags string `json:"flags"`
	// CandidatesError is the standard error of Candidates, 0 where these are no
	// estimate.
	CandidatesError float64 `json:"candidates_error"`
	// Needs is what a job takes that writes clusters; without an input, all but
	// CPUSeconds is zero, and that is for keys and candidates only.
	Needs
	// Work is what the job has to do for that, nil without an input.
	Work *Work `json:"work,omitempty"`
	// Missed is about how many pairs at or above the threshold share no key.
	Missed float64 `json:"missed"`
	// Heaps are groups of a hundred and more documents under one key: those with the
	// most candidates.
	Heaps []Heap `json:"heaps,omitempty"`
}

// Heap is a large group of documents under one key.
type Heap struct {
	// Documents in it, and the pairs of them that are candidates and have met under
	// no key before; estimates.
	Documents  float64 `json:"documents"`
	Candidates float64 `json:"candidates"`
	// Example is one of the documents, as path:position.
	Example string `json:"example"`
	// Dense says that only leaders of the heap are compared with its documents.
	Dense bool `json:"dense"`
}

// Facts tell what a corpus is.
type Facts struct {
	Documents          int64 `json:"documents"`
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	Bytes              int64 `json:"bytes"`
	Rejected           int64 `json:"rejected"`
	// Shingles is the mean number of distinct ones of a document.
	Shingles float64 `json:"shingles"`
	// Wordless is how many documents have none.
	Wordless int64 `json:"wordless"`
	// Overlong is about how many are too long to be compared by a plan.
	Overlong float64 `json:"overlong"`
	// Identical is about how many documents are equal to an earlier one, or have
	// its fingerprint.
	Identical float64 `json:"identical"`
	// Pairs is about how many pairs of documents that are not identical reach the
	// threshold, or are within the distance.
	Pairs float64 `json:"pairs"`
	// SampledDocuments were fingerprinted, whose lines have SampledBytes. All were read.
	SampledDocuments int64 `json:"sampled_documents"`
	SampledBytes     int64 `json:"sampled_bytes"`
	// DocumentShare is the share of the documents that was kept to be compared.
	DocumentShare float64 `json:"document_share"`
}

// Point is a point of the S-curve.
type Point struct {
	Similarity float64 `json:"similarity"`
	// Probability that a pair of this similarity shares a key.
	Probability float64 `json:"probability"`
	// Pairs is about how many pairs of the corpus have this similarity or one up to
	// the next point; nil where too few share a key to tell.
	Pairs *float64 `json:"pairs,omitempty"`
}
