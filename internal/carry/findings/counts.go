package findings

import (
	"cmp"

	"mirrorbeam/internal/read/corpus"
)

// Counts is what the tasks counted of the corpus, and of what they found in it. Each field says with the tag doc what it counts,
// in the words of the documentation, and may have the other tags of [Figures]. Documents and Bytes do not include the reference.
type Counts struct {
	Documents           int64 `json:"documents" doc:"documents of the input: kept + removed"`
	Bytes               int64 `json:"bytes" label:"read" unit:"bytes" doc:"bytes of input lines"`
	ReferenceDocuments  int64 `json:"reference_documents,omitempty" label:"documents of a reference" doc:"documents of the reference, which are not part of documents"`
	ReferenceBytes      int64 `json:"reference_bytes,omitempty" label:"read of a reference" unit:"bytes" doc:"their bytes, which are not part of bytes"`
	Rejected            int64 `json:"rejected" label:"rejects" doc:"records that could not be read"`
	Empty               int64 `json:"empty,omitempty" label:"rejects without text" doc:"rejected records whose text is null or missing"`
	RepeatedIDs         int64 `json:"repeated_ids,omitempty" label:"repeated ids" doc:"ids that several documents of the input have, counted exactly"`
	InvalidUTF8         int64 `json:"invalid_utf8" label:"not valid UTF-8" doc:"documents with bytes that are not UTF-8, read all the same; as in rejected, documents of the reference are among them"`
	Expanding           int64 `json:"expanding,omitempty" label:"expanding files" doc:"compressed files that became more than 1,000 times as long when they were decoded"`
	Unranked            int64 `json:"unranked,omitempty" label:"of no rank" doc:"documents of the input to which --keep gives no place"`
	Unscoped            int64 `json:"unscoped,omitempty" label:"of no scope" doc:"documents, the reference included, without the field of --within or --across"`
	Unsited             int64 `json:"unsited,omitempty" label:"of no site" doc:"documents without an address, where sites are asked for"`
	IgnoredIn           int64 `json:"ignored_in,omitempty" label:"with base texts" doc:"with --ignore: documents, the reference included, that hold shingles of base texts"`
	IgnoredShingles     int64 `json:"ignored_shingles,omitempty" label:"shingles of base texts" doc:"these shingles, distinct ones of each document, which are left out"`
	IgnoredWhole        int64 `json:"ignored_whole,omitempty" label:"hardly more than base texts" doc:"documents that hold hardly anything else"`
	CommonIn            int64 `json:"common_in,omitempty" label:"with common shingles" doc:"with --common: documents, the reference included, that hold common shingles"`
	CommonShingles      int64 `json:"common_shingles,omitempty" label:"common shingles" doc:"these shingles, distinct ones of each document, which are left out"`
	CommonWhole         int64 `json:"common_whole,omitempty" label:"nothing but common shingles" doc:"documents that hold nothing else"`
	Boilerplate         int64 `json:"boilerplate,omitempty" label:"passages of boilerplate" doc:"with --emit boilerplate: passages, those beyond the 4,096 rows among them"`
	Identical           int64 `json:"identical" label:"pairs of identical documents" doc:"rows of pairs that are identical, one for each listed document that is equal to an earlier one (with --across see there)"`
	Candidates          int64 `json:"candidates" label:"candidates compared" doc:"pairs scored"`
	Clusters            int64 `json:"clusters" doc:"clusters of near-duplicates"`
	Clustered           int64 `json:"clustered" label:"documents in clusters" doc:"documents in clusters"`
	Kept                int64 `json:"kept" doc:"documents of the input that are kept, in clusters or not"`
	Removed             int64 `json:"removed" doc:"documents of the input that are removed"`
	RemovedForReference int64 `json:"removed_for_reference,omitempty" label:"removed for a reference" doc:"the part of removed that are near-duplicates of a document of the reference, whatever document is kept for them"`
	Pairs               int64 `json:"pairs" doc:"pairs of near-duplicates"`

	PassedOver corpus.PassedFiles `json:"passed_over,omitempty" label:"files passed over" doc:"files of searched folders that no format takes, by the endings of their names"`
}

// Skipped says what was not compared.
type Skipped struct {
	// Pairs counts pairs of documents that share a key, once for every such key whose group was too dense. They may
	// have been compared under another key.
	Pairs int64 `json:"pairs" metric:"skipped_pairs" doc:"pairs with a common key that were not compared, since their group is too large"`
	// Groups counts the groups too dense to compare all pairs.
	Groups int64 `json:"groups" metric:"skipped_groups" doc:"groups that are too large to be compared pair by pair"`
	// Kept counts the kept documents of such groups that were not compared with all other kept documents of their
	// group.
	Kept int64 `json:"kept" metric:"skipped_kept" doc:"kept documents of such groups that were not compared with all other kept ones"`
	// SpreadPages counts pages that more sites have than are compared with each other. The equal pages of a site count once.
	SpreadPages int64 `json:"spread_pages,omitempty" doc:"pages that too many sites have to be compared with each other"`
	// Example is the largest of these groups, nil if there is none.
	Example *SkippedGroup `json:"example,omitempty"`
}

// SkippedGroup is a dense group.
type SkippedGroup struct {
	// Documents is the number of distinct documents in the group.
	Documents int64 `json:"documents"`
	// First and Second are its first two documents, as path:position.
	First  string `json:"first"`
	Second string `json:"second"`
}

// merge keeps the larger group. Of equally large ones it keeps the one with the smaller names, so that the order does not matter.
func (g *SkippedGroup) merge(from any) {
	other := from.(SkippedGroup)
	if *g == (SkippedGroup{}) || cmp.Or(cmp.Compare(other.Documents, g.Documents), cmp.Compare(g.First, other.First), cmp.Compare(g.Second, other.Second)) > 0 {
		*g = other
	}
}

// Common says which shingles are common.
type Common struct {
	// Above is the number of documents that may have a shingle before it is common.
	Above int64 `json:"above"`
	// Shingles is the number of common shingles.
	Shingles int64 `json:"shingles"`
}

// merge takes what the other task says: all that tell say the same.
func (c *Common) merge(from any) { *c = from.(Common) }
