package output

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/sketch"
)

// Row is a row of an output. Strings in it are texts as [Text] returns them. Its fields are the columns of a Parquet
// file, under the names and in the order of their tags.
type Row interface {
	// AppendJSON appends the row as a line of JSON.
	AppendJSON(b []byte) []byte
}

// Reject is a row of rejects: a record that was not read as a document.
type Reject struct {
	File string `json:"file" parquet:"file,dict"`
	// Position tells where the record is: a byte in most formats, a row in Parquet files.
	Position int64 `json:"position" parquet:"position"`
	// Error says what is wrong with it.
	Error string `json:"error" parquet:"error,dict"`
}

// AppendJSON appends the row as a line of JSON, which encoding/json reads back.
func (r Reject) AppendJSON(b []byte) []byte {
	b = append(b, `{"file":`...)
	b = quoting.AppendQuoted(b, r.File)
	b = append(b, `,"position":`...)
	b = strconv.AppendInt(b, r.Position, 10)
	b = append(b, `,"error":`...)
	b = quoting.AppendQuoted(b, r.Error)
	return append(b, "}\n"...)
}

// Pair is a row of pairs, scored by the sets of the two documents.
type Pair struct {
	A            string  `parquet:"a,dict"`
	B            string  `parquet:"b"`
	Jaccard      float64 `parquet:"jaccard"`
	ContainmentA float64 `parquet:"containment_a"`
	ContainmentB float64 `parquet:"containment_b"`
	// Exact is false if the numbers are estimates.
	Exact     bool `parquet:"exact"`
	Identical bool `parquet:"identical"`
	// Spans are passages that both have, the longest first. The list is empty unless the job looks for passages.
	Spans []Span `parquet:"spans,list"`
	// MoreSpans is how many further passages there are.
	MoreSpans int64 `parquet:"more_spans"`
}

// RarePair is a row of pairs that tells how rare their passages are.
type RarePair struct {
	Pair
	// Rarity is 0 of identical documents.
	Rarity float64 `parquet:"rarity"`
}

// AppendJSON appends the row as a line of JSON. Fields that say no, or nothing, are left out.
func (p RarePair) AppendJSON(b []byte) []byte {
	b = p.Pair.AppendJSON(b)
	if p.Rarity > 0 {
		b = AppendFloat(append(bytes.TrimSuffix(b, []byte("}\n")), `,"rarity":`...), p.Rarity)
		b = append(b, "}\n"...)
	}
	return b
}

// PartialPair is a row of pairs whose common shingles do not count for the similarity.
type PartialPair struct {
	A            string  `json:"a" parquet:"a,dict"`
	B            string  `json:"b" parquet:"b"`
	Jaccard      float64 `json:"jaccard" parquet:"jaccard"`
	ContainmentA float64 `json:"containment_a" parquet:"containment_a"`
	ContainmentB float64 `json:"containment_b" parquet:"containment_b"`
	// JaccardWhole is the similarity by all shingles.
	JaccardWhole float64 `json:"jaccard_whole" parquet:"jaccard_whole"`
	Exact        bool    `json:"exact" parquet:"exact"`
	Identical    bool    `json:"identical" parquet:"identical"`
}

// NewPartialPair returns the row of a pair, given its similarity by all shingles.
func NewPartialPair(p Pair, whole float64) PartialPair {
	return PartialPair{p.A, p.B, p.Jaccard, p.ContainmentA, p.ContainmentB, whole, p.Exact, p.Identical}
}

// AppendJSON appends the row as a line of JSON. Identical is left out if it says no.
func (p PartialPair) AppendJSON(b []byte) []byte {
	b = appendNames(b, p.A, p.B)
	b = appendNumbers(b,
		number{`,"jaccard":`, p.Jaccard}, number{`,"containment_a":`, p.ContainmentA}, number{`,"containment_b":`, p.ContainmentB},
		number{`,"jaccard_whole":`, p.JaccardWhole})
	b = append(b, `,"exact":`...)
	b = strconv.AppendBool(b, p.Exact)
	b = appendMark(b, "identical", p.Identical)
	return append(b, "}\n"...)
}

// Span is a passage that two documents have in common: where it begins and ends in the text of each, in bytes.
type Span struct {
	ABegin int64 `parquet:"a_begin"`
	AEnd   int64 `parquet:"a_end"`
	BBegin int64 `parquet:"b_begin"`
	BEnd   int64 `parquet:"b_end"`
	// Words is the number of its words, in the text where it has fewer.
	Words int64 `parquet:"words"`
}

// Overlap says how much two documents, A and B, have in common.
type Overlap struct {
	// Shared and Union count the shingles in both documents, and in either. For an estimate they count hashes of a
	// sample of the union.
	Shared, Union uint32
	// SizeA and SizeB count the shingles in each.
	SizeA, SizeB uint32
	Identical    bool
	Estimate     bool
}

// NewPair returns the row of two documents, without spans.
func NewPair(a, b string, o Overlap) Pair {
	p := Pair{A: a, B: b, Exact: !o.Estimate, Identical: o.Identical}
	if o.Identical {
		p.Jaccard, p.ContainmentA, p.ContainmentB, p.Exact = 1, 1, 1, true
		return p
	}
	p.Jaccard = float64(o.Shared) / float64(o.Union)
	shared, sizeA, sizeB := float64(o.Shared), float64(o.SizeA), float64(o.SizeB)
	if o.Estimate {
		// |A and B| from J = |A and B| / |A or B| and the sizes, which are known.
		shared = min(p.Jaccard*(sizeA+sizeB)/(1+p.Jaccard), sizeA, sizeB)
	}
	p.ContainmentA, p.ContainmentB = shared/sizeA, shared/sizeB
	return p
}

// AppendJSON appends the row as a line of JSON. Fields that say no, or nothing, are left out.
func (p Pair) AppendJSON(b []byte) []byte {
	b = appendNames(b, p.A, p.B)
	b = appendNumbers(b,
		number{`,"jaccard":`, p.Jaccard}, number{`,"containment_a":`, p.ContainmentA}, number{`,"containment_b":`, p.ContainmentB})
	b = append(b, `,"exact":`...)
	b = strconv.AppendBool(b, p.Exact)
	b = appendMark(b, "identical", p.Identical)
	for i, s := range p.Spans {
		if i == 0 {
			b = append(b, `,"spans":[`...)
		} else {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"a":[%d,%d],"b":[%d,%d],"words":%d}`, s.ABegin, s.AEnd, s.BBegin, s.BEnd, s.Words)
	}
	if len(p.Spans) > 0 {
		b = append(b, ']')
	}
	if p.MoreSpans > 0 {
		b = fmt.Appendf(b, `,"more_spans":%d`, p.MoreSpans)
	}
	return append(b, "}\n"...)
}

// HammingPair is a row of pairs, scored by the bits in which the fingerprints of the two documents differ.
type HammingPair struct {
	A       string `parquet:"a,dict"`
	B       string `parquet:"b"`
	Hamming int64  `parquet:"hamming"`
	// Cosine is what the distance estimates: see [Cosine].
	Cosine float64 `parquet:"cosine"`
	// Exact and Identical are about the distance.
	Exact     bool `parquet:"exact"`
	Identical bool `parquet:"identical"`
}

// NewHammingPair returns the row of two documents whose fingerprints of so many bits differ in distance of them.
func NewHammingPair(a, b string, distance, bits int) HammingPair {
	return HammingPair{A: a, B: b, Hamming: int64(distance), Cosine: Cosine(distance, bits), Exact: true, Identical: distance == 0}
}

// Cosine returns the estimate of [sketch.Cosine] to four digits. Its own error is larger than that: some hundredths for
// fingerprints of 64 bits. For a distance of 0 it is 1, whatever the number of bits.
func Cosine(distance, bits int) float64 {
	if distance == 0 {
		return 1
	}
	return math.Round(sketch.Cosine(distance, bits)*1e4) / 1e4
}

// AppendJSON appends the row as a line of JSON. Identical is left out if it says no.
func (p HammingPair) AppendJSON(b []byte) []byte {
	b = appendNames(b, p.A, p.B)
	b = append(b, `,"hamming":`...)
	b = strconv.AppendInt(b, p.Hamming, 10)
	b = appendNumbers(b, number{`,"cosine":`, p.Cosine})
	b = append(b, `,"exact":`...)
	b = strconv.AppendBool(b, p.Exact)
	b = appendMark(b, "identical", p.Identical)
	return append(b, "}\n"...)
}

// appendNames begins the row of a pair.
func appendNames(b []byte, first, second string) []byte {
	b = append(b, `{"a":`...)
	b = quoting.AppendQuoted(b, first)
	b = append(b, `,"b":`...)
	return quoting.AppendQuoted(b, second)
}

// appendMark appends a field that only a row has of which it is true.
func appendMark(b []byte, name string, is bool) []byte {
	if !is {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":true`...)
}

// Cluster is a row of clusters: a document in a cluster of two or more.
type Cluster struct {
	Cluster    string  `parquet:"cluster,dict"`
	ID         string  `parquet:"id"`
	Ref        string  `parquet:"ref"`
	Kept       bool    `parquet:"kept"`
	Similarity float64 `parquet:"similarity"`
	Size       int64   `parquet:"size"`
	// Least and Mean are the smallest and the mean similarity of the removed documents of the cluster to those that stay
	// for them. Use [RoundMean] for the mean.
	Least float64 `parquet:"least"`
	Mean  float64 `parquet:"mean"`
	// Reference is set for a document of the reference corpus.
	Reference bool `parquet:"reference"`
}

// RoundMean rounds a mean similarity to the four digits that rows have of it.
func RoundMean(mean float64) float64 { return math.Round(mean*1e4) / 1e4 }

// AppendJSON appends the row as a line of JSON. Reference is left out if it says no.
func (c Cluster) AppendJSON(b []byte) []byte {
	b = append(b, `{"cluster":`...)
	b = quoting.AppendQuoted(b, c.Cluster)
	b = append(b, `,"id":`...)
	b = quoting.AppendQuoted(b, c.ID)
	b = append(b, `,"ref":`...)
	b = quoting.AppendQuoted(b, c.Ref)
	b = append(b, `,"kept":`...)
	b = strconv.AppendBool(b, c.Kept)
	b = appendNumbers(b, number{`,"similarity":`, c.Similarity})
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, c.Size, 10)
	b = appendNumbers(b, number{`,"least":`, c.Least}, number{`,"mean":`, c.Mean})
	b = appendMark(b, "reference", c.Reference)
	return append(b, "}\n"...)
}

// Removal is a row of removed: a document for which another one is kept.
type Removal struct {
	ID         string  `parquet:"id"`
	Ref        string  `parquet:"ref"`
	Cluster    string  `parquet:"cluster,dict"`
	KeptID     string  `parquet:"kept_id,dict"`
	Similarity float64 `parquet:"similarity"`
	// Reference is set if the kept document is of the reference corpus.
	Reference bool `parquet:"reference"`
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

// Sketch is a row of sketches.
type Sketch struct {
	ID  string `parquet:"id"`
	Ref string `parquet:"ref"`
	// Shingles is the number of distinct shingles or features.
	Shingles int64 `parquet:"shingles"`
	// SimHash is the SimHash fingerprint as [SimHashText] writes it.
	SimHash string `parquet:"simhash"`
	// Fingerprint holds the smallest hashes of the set, of 48 bits each, ascending.
	Fingerprint []int64 `parquet:"fingerprint,list"`
}

// SimHashText writes a SimHash fingerprint, whose first word has the lowest bits, as one hexadecimal number, its highest
// bits first. It has a digit for every four of so many bits.
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
