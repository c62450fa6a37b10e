package output

import (
	"fmt"
	"math"
	"strconv"

	"mirrorbeam/internal/ground/quoting"
)

// Member is a row of clusters: a document in a cluster of two or more.
type Member struct {
	// Cluster is the name of its cluster: the first document of it.
	Cluster string `json:"cluster" parquet:"cluster,dict"`
	// ID is its id, or its ref if it has none of its own.
	ID string `json:"id" parquet:"id"`
	// Ref says where it is: path:position.
	Ref string `json:"ref" parquet:"ref"`
	// Kept says that it stays if duplicates are removed.
	Kept bool `json:"kept" parquet:"kept"`
	// Similarity is how similar it is to the kept document that it stands for, 1 for a kept one.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Size is the number of documents in the cluster.
	Size int64 `json:"size" parquet:"size"`
	// Least is the smallest similarity of the removed documents of the cluster to those that stay for them.
	Least float64 `json:"least" parquet:"least"`
	// Mean is the mean of these similarities, to four digits: it tells a tight cluster from a chain.
	Mean float64 `json:"mean" parquet:"mean"`
	// Reference says that it is of the reference corpus.
	Reference bool `json:"reference,omitempty" parquet:"reference"`
}

// RoundMean rounds a mean similarity to the four digits that rows have of it.
func RoundMean(mean float64) float64 { return math.Round(mean*1e4) / 1e4 }

// AppendJSON appends the row as a line of JSON. Reference is left out if it says no.
func (m Member) AppendJSON(b []byte) []byte {
	b = append(b, `{"cluster":`...)
	b = quoting.AppendQuoted(b, m.Cluster)
	b = append(b, `,"id":`...)
	b = quoting.AppendQuoted(b, m.ID)
	b = append(b, `,"ref":`...)
	b = quoting.AppendQuoted(b, m.Ref)
	b = append(b, `,"kept":`...)
	b = strconv.AppendBool(b, m.Kept)
	b = appendNumbers(b, number{`,"similarity":`, m.Similarity})
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, m.Size, 10)
	b = appendNumbers(b, number{`,"least":`, m.Least}, number{`,"mean":`, m.Mean})
	b = appendMark(b, "reference", m.Reference)
	return append(b, "}\n"...)
}

// parsePlain reads a line that AppendJSON has written, if its names need no escapes.
func (m *Member) parsePlain(line []byte) bool {
	last, l := *m, plainLine{rest: line, ok: true}
	*m = Member{Cluster: l.text(`{"cluster":"`, last.Cluster), ID: l.text(`,"id":"`, last.ID), Ref: l.text(`,"ref":"`, last.Ref)}
	m.Kept, m.Similarity = l.flag(`,"kept":`), l.number(`,"similarity":`)
	m.Size, m.Least, m.Mean = int64(l.number(`,"size":`)), l.number(`,"least":`), l.number(`,"mean":`)
	m.Reference = l.take(`,"reference":true`)
	return l.end()
}

// Removal is a row of removed: a document for which another one is kept.
type Removal struct {
	// ID is the id of the removed document.
	ID string `json:"id" parquet:"id"`
	// Ref says where it is.
	Ref string `json:"ref" parquet:"ref"`
	// Cluster is the name of its cluster.
	Cluster string `json:"cluster" parquet:"cluster,dict"`
	// KeptID is the kept document that it is most like.
	KeptID string `json:"kept_id" parquet:"kept_id,dict"`
	// Similarity is how similar it is to that one.
	Similarity float64 `json:"similarity" parquet:"similarity"`
	// Reference says that the kept document is of the reference corpus.
	Reference bool `json:"reference,omitempty" parquet:"reference"`
}

// AppendJSON appends the row as a line of JSON. Reference is left out if it says no.
func (r Removal) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = quoting.AppendQuoted(b, r.ID)
	b = append(b, `,"ref":`...)
	b = quoting.AppendQuoted(b, r.Ref)
	b = append(b, `,"cluster":`...)
	b = quoting.AppendQuoted(b, r.Cluster)
	b = append(b, `,"kept_id":`...)
	b = quoting.AppendQuoted(b, r.KeptID)
	b = appendNumbers(b, number{`,"similarity":`, r.Similarity})
	b = appendMark(b, "reference", r.Reference)
	return append(b, "}\n"...)
}

// Sketch is a row of sketches: the fingerprints of a document.
type Sketch struct {
	// ID is its id, or its ref if it has none of its own.
	ID string `json:"id" parquet:"id"`
	// Ref says where it is.
	Ref string `json:"ref" parquet:"ref"`
	// Shingles is the number of its distinct shingles or features.
	Shingles int64 `json:"shingles" parquet:"shingles"`
	// SimHash is its fingerprint of --bits bits, hexadecimal, the highest bit first.
	SimHash string `json:"simhash" parquet:"simhash"`
	// Fingerprint has the smallest of its shingle hashes of 48 bits, ascending: 128 of them, or --sketch-size.
	Fingerprint []int64 `json:"fingerprint" parquet:"fingerprint,list"`
}

// SimHashText writes a SimHash fingerprint, whose first word has the lowest bits, as one hexadecimal number, its highest
// bits first. It has a digit for every four bits.
func SimHashText(words []uint64, bits int) string {
	var b []byte
	for i := len(words) - 1; i >= 0; i-- {
		b = fmt.Appendf(b, "%0*x", min(bits, 64)/4, words[i])
	}
	return string(b)
}

// AppendJSON appends the row as a line of JSON.
func (s Sketch) AppendJSON(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = quoting.AppendQuoted(b, s.ID)
	b = append(b, `,"ref":`...)
	b = quoting.AppendQuoted(b, s.Ref)
	b = append(b, `,"shingles":`...)
	b = strconv.AppendInt(b, s.Shingles, 10)
	b = append(b, `,"simhash":"`...)
	b = append(b, s.SimHash...)
	b = append(b, `","fingerprint":[`...)
	for i, hash := range s.Fingerprint {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, hash, 10)
	}
	return append(b, "]}\n"...)
}

// Reject is a row of rejects: a record that was not read as a document.
type Reject struct {
	// File is the path of its file.
	File string `json:"file" parquet:"file,dict"`
	// Position tells where the record is: a byte in most formats, a row in Parquet files.
	Position int64 `json:"position" parquet:"position"`
	// Error says what is wrong with it.
	Error string `json:"error" parquet:"error,dict"`
}

// Passage is a row of boilerplate: a passage that very many documents have, or one of a base text, as it stands in the first
// document that has it.
type Passage struct {
	// Documents is how many documents have the rarest shingle of the passage: all documents, also equal ones and a reference's
	// among them.
	Documents int64 `json:"documents" parquet:"documents"`
	// LeftOut is the flag that leaves the passage out, ignore or common. Without it the passage counts.
	LeftOut string `json:"left_out,omitempty" parquet:"left_out,dict"`
	// Tokens is the length of the passage.
	Tokens int64 `json:"tokens" parquet:"tokens"`
	// Text is the passage as it stands in the first document that has it, at most 1,000 bytes.
	Text string `json:"text" parquet:"text"`
	// ID is the id of that document.
	ID string `json:"id" parquet:"id"`
	// Ref says where that document is.
	Ref string `json:"ref" parquet:"ref"`
	// Field is the field of the text, where --weight names several.
	Field string `json:"field,omitempty" parquet:"field,dict"`
	// Begin is where the passage begins in the text of the document, in bytes.
	Begin int64 `json:"begin" parquet:"begin"`
	// End is where it ends.
	End int64 `json:"end" parquet:"end"`
}
