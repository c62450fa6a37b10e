package output

import (
	"encoding/json"
	"fmt"
	"math"

	"mirrorbeam.dev/internal/input/parquetfile"
)

// Member is a row of clusters: a document in a cluster of two or more.
type Member struct {
	// Cluster is the name of its cluster: the first document of it.
	Cluster string `json:"cluster" parquet:"cluster,dict" names:"document"`
	// ID is its id, or its ref if it has no id of its own.
	ID string `json:"id" parquet:"id" names:"document"`
	// Ref says where it is: path:position.
	Ref string `json:"ref" parquet:"ref"`
	// URL is its address in a web archive, up to 2,048 bytes.
	URL string `json:"url,omitempty" parquet:"url" names:"capture"`
	// Date is when the archive fetched it.
	Date string `json:"date,omitempty" parquet:"date" names:"capture"`
	// Kept says that it is kept when duplicates are removed.
	Kept bool `json:"kept" parquet:"kept"`
	// Similarity is its similarity to the kept document that it duplicates; 1 for a kept document.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Size is the number of documents in the cluster.
	Size int64 `json:"size" parquet:"size"`
	// Least is the lowest similarity of a removed document of the cluster; 1 if none is removed.
	Least float64 `json:"least" parquet:"least"`
	// Mean is the mean of these similarities, to four digits. It is high in a tight cluster, and low in a chain.
	Mean float64 `json:"mean" parquet:"mean"`
	// Reference says that it belongs to the reference corpus.
	Reference bool `json:"reference,omitempty" parquet:"reference"`
}

// RoundMean rounds a mean similarity to the four digits that rows have of it.
func RoundMean(mean float64) float64 { return math.Round(mean*1e4) / 1e4 }

// Removal is a row of removed: a document for which another one is kept.
type Removal struct {
	// ID is the id of the removed document.
	ID string `json:"id" parquet:"id" names:"document"`
	// Ref says where it is.
	Ref string `json:"ref" parquet:"ref"`
	// URL is its address in a web archive, up to 2,048 bytes.
	URL string `json:"url,omitempty" parquet:"url" names:"capture"`
	// Date is when the archive fetched it.
	Date string `json:"date,omitempty" parquet:"date" names:"capture"`
	// Cluster is the name of its cluster.
	Cluster string `json:"cluster" parquet:"cluster,dict" names:"document"`
	// KeptID is the kept document that it duplicates: its most similar neighbour with a higher rank by --keep.
	KeptID string `json:"kept_id,omitempty" parquet:"kept_id,dict" names:"document"`
	// KeptURL is the address of the kept document in a web archive.
	KeptURL string `json:"kept_url,omitempty" parquet:"kept_url,dict" names:"capture"`
	// KeptDate is when the archive fetched it.
	KeptDate string `json:"kept_date,omitempty" parquet:"kept_date,dict" names:"capture"`
	// LikeID is the most similar document of its cluster, with --drop clusters, which removes them all. Such rows have
	// no KeptID.
	LikeID string `json:"like_id,omitempty" parquet:"like_id,dict" names:"document"`
	// LikeURL is the address of that document in a web archive.
	LikeURL string `json:"like_url,omitempty" parquet:"like_url,dict" names:"capture"`
	// LikeDate is when the archive fetched it.
	LikeDate string `json:"like_date,omitempty" parquet:"like_date,dict" names:"capture"`
	// Similarity is its similarity to the document that KeptID or LikeID names.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Reference says that it belongs to the reference corpus.
	Reference bool `json:"reference,omitempty" parquet:"reference"`
}

// NewRemovalRows makes a file of removed documents in the folder dir, under a random name. AreDropped says that all
// documents of their clusters are removed.
func NewRemovalRows(dir string, file File, format Format, areDropped bool, names Names) (*Rows[Removal], error) {
	without := []string{"LikeID", "LikeURL", "LikeDate"}
	if areDropped {
		without = []string{"KeptID", "KeptURL", "KeptDate"}
	}
	return newRows[Removal](dir, file, format, names, parquetfile.Table{Name: "Removal", Without: without})
}

// Sketch is a row of sketches: the fingerprints of a document.
type Sketch struct {
	// ID is its id, or its ref if it has no id of its own.
	ID string `json:"id" parquet:"id" names:"document"`
	// Ref says where it is.
	Ref string `json:"ref" parquet:"ref"`
	// URL is its address in a web archive, up to 2,048 bytes.
	URL string `json:"url,omitempty" parquet:"url" names:"capture"`
	// Date is when the archive fetched it.
	Date string `json:"date,omitempty" parquet:"date" names:"capture"`
	// Shingles is the number of its distinct shingles or features.
	Shingles int64 `json:"shingles" parquet:"shingles"`
	// SimHash is its fingerprint of --bits bits, hexadecimal, the highest bit first.
	SimHash string `json:"simhash" parquet:"simhash"`
	// Fingerprint has the smallest of its shingle hashes of 48 bits, ascending: 128 of them, or --sketch-size.
	Fingerprint []int64 `json:"fingerprint" parquet:"fingerprint,list"`
}

// SimHashText writes a SimHash fingerprint, whose first word has the lowest bits, as one hexadecimal number, its
// highest bits first. It has a digit for every four bits.
func SimHashText(words []uint64, bits int) string {
	var b []byte
	for i := len(words) - 1; i >= 0; i-- {
		b = fmt.Appendf(b, "%0*x", min(bits, 64)/4, words[i])
	}
	return string(b)
}

// Reject is a row of rejects: a record that was not read as a document.
type Reject struct {
	// File is the path of its file.
	File string `json:"file" parquet:"file,dict"`
	// Position tells where the record is: a byte in most formats, a row in Parquet files.
	Position int64 `json:"position" parquet:"position"`
	// URL is its address in a web archive, if it could be read.
	URL string `json:"url,omitempty" parquet:"url" names:"capture"`
	// Date is when the archive fetched it.
	Date string `json:"date,omitempty" parquet:"date" names:"capture"`
	// Error says what is wrong with it.
	Error string `json:"error" parquet:"error,dict"`
}

// Cut is a row of passages: a passage that was cut from a document because it occurs earlier.
type Cut struct {
	// ID is the id of the document, or its ref if it has none of its own.
	ID string `json:"id" parquet:"id" names:"document"`
	// Ref says where the document is.
	Ref string `json:"ref" parquet:"ref"`
	// URL is the address of the document in a web archive, up to 2,048 bytes.
	URL string `json:"url,omitempty" parquet:"url" names:"capture"`
	// Date is when the archive fetched it.
	Date string `json:"date,omitempty" parquet:"date" names:"capture"`
	// Begin is where the passage begins in the text of the document, in bytes.
	Begin int64 `json:"begin" parquet:"begin"`
	// End is where it ends.
	End int64 `json:"end" parquet:"end"`
	// Words is its length in words.
	Words int64 `json:"words" parquet:"words"`
	// FirstRef is the ref of the document in which it occurs first.
	FirstRef string `json:"first_ref" parquet:"first_ref,dict"`
	// FirstAt is the number of the word, line, paragraph or sentence at which it begins there, from 0.
	FirstAt int64 `json:"first_at" parquet:"first_at"`
	// Reference says that this document belongs to the reference corpus.
	Reference bool `json:"reference,omitempty" parquet:"reference"`
	// Gone says that the whole document was removed, since too little of it was left, or for an item.
	Gone bool `json:"gone,omitempty" parquet:"gone"`
	// FirstID is the id of an item of a benchmark, with --passage-unit items.
	FirstID string `json:"first_id,omitempty" parquet:"first_id,dict" names:"item"`
	// Field is the field that has the item, if several are looked for.
	Field string `json:"field,omitempty" parquet:"field,dict" names:"item"`
	// Share is the share of the words of the item that the document has, in their order.
	Share float64 `json:"share,omitempty" parquet:"share" names:"item"`
}

// The kinds of a [Change]. A group of this run continues the group of the last run whose members it has most of.
const (
	New    = "new"    // none of its members was in a group
	Grown  = "grown"  // it continues one group and has further members
	Shrunk = "shrunk" // it continues one group, has no further members and lacks some
	Merged = "merged" // it continues several groups
	Split  = "split"  // it is a part of a group, and other groups have parts of that, too
	Gone   = "gone"   // none of its members is in a group any more
)

// The kinds of a [Change] that only the watch over protected sites has.
const (
	Unseen  = "unseen"  // a suspect could not be looked for, so it stays as it was
	Changed = "changed" // a protected site has too little left of what it was to be compared
)

// ChangeKinds are the kinds of changes, in the order of a report.
var ChangeKinds = []string{New, Grown, Merged, Split, Shrunk, Changed, Unseen, Gone}

// Followed are the outputs whose changes are told, in the order of a report.
var Followed = []string{Clusters, Mirrors, Suspects, Protected}

// Protected stands for the protected sites among the outputs whose changes are told.
const Protected = "protected"

// ChangeKindsOf returns the kinds of changes that an output of [Followed] may have. A suspect is one pair of sites, so
// it neither merges nor splits.
func ChangeKindsOf(of string) []string {
	switch of {
	case Suspects:
		return []string{New, Grown, Shrunk, Unseen, Gone}
	case Protected:
		return []string{Changed}
	}
	return []string{New, Grown, Merged, Split, Shrunk, Gone}
}

// Change is a row of changes: a cluster of documents, a group of mirrors, a suspect or a protected site that is not
// what it was in the last run. The members of a group of mirrors are sites, the members of a suspect the pages that are
// copies. A row without a lineage stands for as many further changes as its size says: see package state.
type Change struct {
	// Of is the output that has the group: clusters, mirrors or suspects; or protected for a protected site.
	Of string `json:"of" parquet:"of,dict"`
	// Change says what has changed: new, grown, merged, split, shrunk, changed, unseen or gone.
	Change string `json:"change" parquet:"change,dict"`
	// Lineage is the same in all runs in which the group continues.
	Lineage string `json:"lineage" parquet:"lineage"`
	// Name is the name of the group in this run or, if it is gone, in the last one.
	Name string `json:"name" parquet:"name"`
	// Size is the number of its members, 0 if it is gone: before plus added minus removed.
	Size int64 `json:"size" parquet:"size"`
	// Before is the number of members of the groups that it continues.
	Before int64 `json:"before" parquet:"before"`
	// Added counts its members that were in none of these groups.
	Added int64 `json:"added" parquet:"added"`
	// Removed counts the members of these groups that are not its own.
	Removed int64 `json:"removed" parquet:"removed"`
	// Previous are the lineages of the groups of the last run from which it has members.
	Previous []string `json:"previous,omitempty" parquet:"previous,list"`
	// Generation is the generation whose run found the change. If that is an earlier run, the row is repeated.
	Generation int64 `json:"generation" parquet:"generation"`
	// Since is the generation of the first unacknowledged change of this kind.
	Since int64 `json:"since" parquet:"since"`
}

// Match is a row of a query: a document, and a similar document of the state.
type Match struct {
	// ID is the document looked up: its id, or its ref if it has no id.
	ID json.RawMessage `json:"id" names:"document"`
	// Ref says where it is: path:position.
	Ref json.RawMessage `json:"ref"`
	// Match is the id of the similar document in the state, or its ref if it shares the id.
	Match json.RawMessage `json:"match" names:"document"`
	// MatchRef says where that document is.
	MatchRef json.RawMessage `json:"match_ref"`
	// Hamming is the number of bits in which the fingerprints differ, if the state compares these.
	Hamming int64 `json:"hamming,omitempty" with:"!Jaccard"`
	// Cosine is an estimate of the cosine of the angle between the two documents, if the state compares fingerprints.
	Cosine float64 `json:"cosine,omitempty" with:"!Jaccard"`
	// Jaccard is the similarity of the two sets of shingles, if the state compares these.
	Jaccard float64 `json:"jaccard,omitempty" with:"Jaccard"`
	// ContainmentA is the share of the document looked up that the match contains.
	ContainmentA float64 `json:"containment_a,omitempty" with:"Jaccard"`
	// ContainmentB is the share of the match that the document looked up contains.
	ContainmentB float64 `json:"containment_b,omitempty" with:"Jaccard"`
	// Identical says that the documents are the same under the measure: their sets, or their fingerprints; of documents
	// without any word, the bytes.
	Identical bool `json:"identical,omitempty"`
	// Reference says that the match belongs to the --reference of the job.
	Reference bool `json:"reference,omitempty"`
	// Added says that the match is an earlier document of this query, with --add, and not in the state.
	Added bool `json:"added,omitempty"`
}

// NewMatch returns the match of two documents, by the numbers of their shingles and of shared ones.
func NewMatch(shared, size, matchSize int) Match {
	return Match{
		Jaccard:      float64(shared) / float64(size+matchSize-shared),
		ContainmentA: float64(shared) / float64(size),
		ContainmentB: float64(shared) / float64(matchSize),
	}
}

// NewIdenticalMatch returns the match of two documents of equal sets. They may have no shingles.
func NewIdenticalMatch() Match {
	return Match{Jaccard: 1, ContainmentA: 1, ContainmentB: 1, Identical: true}
}

// NewHammingMatch returns the match of two documents whose fingerprints of that many bits differ in distance of them.
func NewHammingMatch(distance, bits int) Match {
	return Match{Hamming: int64(distance), Cosine: Cosine(distance, bits), Identical: distance == 0}
}
