package plan

import (
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/lshbands"
)

// Advice ranks the ways to find candidates. The work of a job depends only on its configuration; an Advice says what
// other configurations would change.
type Advice struct {
	Config Config `json:"config"`
	// Corpus describes the input; nil without one.
	Corpus *Facts `json:"corpus,omitempty"`
	// Reads says what the job reads; nil without an input. Writes says what each output takes if the job writes it.
	Reads  *Reads  `json:"reads,omitempty"`
	Writes []Write `json:"writes,omitempty"`
	// TempFree is the number of bytes that are free on the disk of the temporary folder; nil if nobody knows.
	TempFree *int64 `json:"temp_free_bytes,omitempty"`
	// Choices are ranked, the cheapest first.
	Choices []Choice `json:"choices"`
	// Chosen is the index in Choices of the choice of the configuration; -1 if its cost cannot be told without an
	// input.
	Chosen int `json:"chosen"`
	// Best is the index of the cheapest choice that fits and finds a pair at the threshold as surely as the
	// configuration asks for; -1 if there is none.
	Best int `json:"best"`
	// Cheaper and Safer are the indexes of the next choices: one finds a pair at the threshold less surely at a lower
	// price, the other more surely. -1 if there is none.
	Cheaper int `json:"cheaper"`
	Safer   int `json:"safer"`
	// Curve is the S-curve of Bands. These are the bands of the configuration, or those that it would have if it asked
	// for MinHash. SimHash keys have none.
	Bands lshbands.Scheme `json:"curve_of,omitzero"`
	Curve []Point         `json:"curve,omitempty"`
	// Distances holds estimates of the number of pairs of the corpus whose fingerprints differ in 0, 1 and more bits,
	// up to one more than asked for. It is nil for other keys.
	Distances []float64 `json:"distances,omitempty"`
}

// Choice is a way to find candidates, and its cost for the corpus.
type Choice struct {
	Keys methods.Name `json:"keys"`
	lshbands.Choice
	// Flags make 'runjob run' take this choice, in place of other flags of keys. They are empty for the choice of the
	// configuration.
	Flags string `json:"flags"`
	// CandidatesError is the standard error of Candidates, 0 if these are not an estimate.
	CandidatesError float64 `json:"candidates_error"`
	// Needs is the cost of a job that writes clusters. Without an input, only CPUSeconds is set, and covers keys and
	// candidates only.
	Needs
	// Work is the work behind these costs, nil without an input.
	Work *Work `json:"work,omitempty"`
	// Missed is about how many pairs at or above the threshold share no key.
	Missed float64 `json:"missed"`
	// Heaps are the groups of a hundred or more documents under one key that have the most candidates.
	Heaps []Heap `json:"heaps,omitempty"`
}

// Heap is a large group of documents under one key.
type Heap struct {
	// Documents and Candidates are estimates. Candidates are the pairs of the group that are candidates and have met
	// under no earlier key.
	Documents  float64 `json:"documents"`
	Candidates float64 `json:"candidates"`
	// Example is one of the documents, as path:position.
	Example string `json:"example"`
	// Dense says that only leaders of the heap are compared with its documents.
	Dense bool `json:"dense"`
}

// Facts describe a corpus.
type Facts struct {
	Documents          int64 `json:"documents"`
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	Bytes              int64 `json:"bytes"`
	Rejected           int64 `json:"rejected"`
	// Shingles is the mean number of distinct shingles of a document.
	Shingles float64 `json:"shingles"`
	// Wordless is the number of documents without shingles.
	Wordless int64 `json:"wordless"`
	// Overlong is about how many documents are too long for a plan to compare.
	Overlong float64 `json:"overlong"`
	// Identical is about how many documents are equal to an earlier one, or have
	// its fingerprint.
	Identical float64 `json:"identical"`
	// Pairs is about how many pairs of documents that are not identical reach the threshold, or are within the
	// distance.
	Pairs float64 `json:"pairs"`
	// SampledDocuments is the number of documents that were fingerprinted; their lines have SampledBytes. All documents
	// were read.
	SampledDocuments int64 `json:"sampled_documents"`
	SampledBytes     int64 `json:"sampled_bytes"`
	// DocumentShare is the share of the documents that was kept for comparison.
	DocumentShare float64 `json:"document_share"`
}

// Point is a point of the S-curve.
type Point struct {
	Similarity float64 `json:"similarity"`
	// Probability is the probability that a pair of this similarity shares a key.
	Probability float64 `json:"probability"`
	// Pairs is about how many pairs of the corpus have a similarity from this point up to the next; nil if too few of
	// them share a key to tell.
	Pairs *float64 `json:"pairs,omitempty"`
}
