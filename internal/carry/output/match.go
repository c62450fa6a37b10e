package output

import (
	"encoding/json"
	"strconv"
)

// Match is a row of a query: a document, and a similar document of the index.
type Match struct {
	// ID is the document asked about: its id, or its ref if it has none.
	ID json.RawMessage `json:"id"`
	// Ref says where it is: path:position.
	Ref json.RawMessage `json:"ref"`
	// Match is the one in the index. An id that several documents have is told apart by the ref.
	Match json.RawMessage `json:"match"`
	// MatchRef says where that one is.
	MatchRef json.RawMessage `json:"match_ref"`
	// Hamming is the number of bits in which the fingerprints differ, if the index compares these.
	Hamming int64 `json:"hamming,omitempty"`
	// Cosine is an estimate of the cosine of the angle between the two documents, if the index compares fingerprints.
	Cosine float64 `json:"cosine,omitempty"`
	// Jaccard is the similarity of the two sets of shingles, if the index compares these.
	Jaccard float64 `json:"jaccard,omitempty"`
	// ContainmentA is the share of the document asked about that the one of the index has.
	ContainmentA float64 `json:"containment_a,omitempty"`
	// ContainmentB is the share of the one of the index that the document asked about has.
	ContainmentB float64 `json:"containment_b,omitempty"`
	// Identical says that the documents are the same under the measure: their sets, or their fingerprints; of documents without any
	// word, the bytes.
	Identical bool `json:"identical,omitempty"`
	// Reference says that the one of the index is of the --reference of the job.
	Reference bool `json:"reference,omitempty"`
	// Added says that the match is not of the index, but an earlier document of the same query with --add.
	Added bool `json:"added,omitempty"`
}

// NewMatch returns the match of two documents, by the numbers of their shingles and of shared ones.
func NewMatch(shared, size, matchSize int) Match {
	return Match{
		Jaccard:      float64(shared) / float64(size+matchSize-shared),
		ContainmentA: float64(shared) / float64(size), ContainmentB: float64(shared) / float64(matchSize),
	}
}

// NewIdenticalMatch returns the match of two documents of equal sets. They may have no shingles.
func NewIdenticalMatch() Match {
	return Match{Jaccard: 1, ContainmentA: 1, ContainmentB: 1, Identical: true}
}

// NewHammingMatch returns the match of two documents whose fingerprints of the given number of bits differ in distance of them.
func NewHammingMatch(distance, bits int) Match {
	return Match{Hamming: int64(distance), Cosine: Cosine(distance, bits), Identical: distance == 0}
}

// AppendJSON appends the row as a line of JSON. Fields that say no, or nothing, are left out, but for a distance of 0.
func (m Match) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = append(b, m.ID...)
	b = append(b, `,"ref":`...)
	b = append(b, m.Ref...)
	b = append(b, `,"match":`...)
	b = append(b, m.Match...)
	b = append(b, `,"match_ref":`...)
	b = append(b, m.MatchRef...)
	if m.Jaccard > 0 { // a match of sets shares something
		b = append(b, `,"jaccard":`...)
		b = AppendFloat(b, m.Jaccard)
		b = append(b, `,"containment_a":`...)
		b = AppendFloat(b, m.ContainmentA)
		b = append(b, `,"containment_b":`...)
		b = AppendFloat(b, m.ContainmentB)
	} else {
		b = append(b, `,"hamming":`...)
		b = strconv.AppendInt(b, m.Hamming, 10)
		b = append(b, `,"cosine":`...)
		b = AppendFloat(b, m.Cosine)
	}
	b = appendMark(b, "identical", m.Identical)
	b = appendMark(b, "reference", m.Reference)
	b = appendMark(b, "added", m.Added)
	return append(b, "}\n"...)
}
