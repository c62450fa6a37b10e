package output

import (
	"encoding/json"
	"fmt"
	"math"

	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/sketch"
)

// The kinds of pairs. A kind says which fields the rows of a job have.
const (
	SetPair     = ""        // scored by the sets of the two documents
	PartialPair = "partial" // the same, and common shingles do not count
	RarePair    = "rare"    // the same, and rows tell how rare their passages are
	HammingPair = "hamming" // scored by the distance of their fingerprints
)

// tables are the rows of pairs as tables of Parquet, by their kind.
var tables = map[string]parquetfile.Table{
	SetPair:     {Name: "Pair", Without: []string{"JaccardWhole", "Hamming", "Cosine", "Rarity"}},
	PartialPair: {Name: "PartialPair", Without: []string{"Hamming", "Cosine", "Spans", "MoreSpans", "Rarity"}},
	RarePair:    {Name: "RarePair", Without: []string{"JaccardWhole", "Hamming", "Cosine"}},
	HammingPair: {Name: "HammingPair", Without: []string{
		"Jaccard", "ContainmentA", "ContainmentB", "JaccardWhole", "Spans", "MoreSpans", "Rarity",
	}},
}

// NewPairRows makes a file of pairs of a kind in the folder dir, under a random name.
func NewPairRows(dir string, file File, format Format, kind string, names Names) (*Rows[Pair], error) {
	return newRows[Pair](dir, file, format, names, tables[kind])
}

// Pair is a row of pairs: a verified edge. A job scores its pairs by sets or by the distance of fingerprints.
type Pair struct {
	// A is the first document of the two, in document order.
	A string `json:"a" parquet:"a,dict" names:"document"`
	// B is the second document.
	B string `json:"b" parquet:"b" names:"document"`
	// URLA is the address of A in a web archive, up to 2,048 bytes.
	URLA string `json:"url_a,omitempty" parquet:"url_a,dict" names:"capture"`
	// DateA is when the archive fetched it.
	DateA string `json:"date_a,omitempty" parquet:"date_a,dict" names:"capture"`
	// URLB is the same of B.
	URLB string `json:"url_b,omitempty" parquet:"url_b" names:"capture"`
	// DateB is the same of B.
	DateB string `json:"date_b,omitempty" parquet:"date_b" names:"capture"`
	// Jaccard is the similarity of the two sets of shingles, from 0 to 1.
	Jaccard float64 `json:"jaccard,omitempty" with:"Kind!=HammingPair" parquet:"jaccard"`
	// ContainmentA is the share of A that B contains.
	ContainmentA float64 `json:"containment_a,omitempty" with:"Kind!=HammingPair" parquet:"containment_a"`
	// ContainmentB is the share of B that A contains.
	ContainmentB float64 `json:"containment_b,omitempty" with:"Kind!=HammingPair" parquet:"containment_b"`
	// JaccardWhole is the similarity by all shingles, if common shingles do not count for the others.
	JaccardWhole float64 `json:"jaccard_whole,omitempty" with:"Kind=PartialPair" parquet:"jaccard_whole"`
	// Hamming is the number of bits in which the fingerprints differ, if pairs are scored by it.
	Hamming int64 `json:"hamming,omitempty" with:"Kind=HammingPair" parquet:"hamming"`
	// Cosine is an estimate of the cosine of the angle between the two documents, from -1 to 1, if pairs are scored by
	// it.
	Cosine float64 `json:"cosine,omitempty" with:"Kind=HammingPair" parquet:"cosine"`
	// Exact is false if the numbers are estimates.
	Exact bool `json:"exact" parquet:"exact"`
	// Identical says that the documents are the same under the measure: their sets, or their fingerprints.
	Identical bool `json:"identical,omitempty" parquet:"identical"`
	// Variant says that the documents are about different things, with --variants keep or wide, and that neither is
	// removed for the other one.
	Variant bool `json:"variant,omitempty" parquet:"variant" names:"variant"`
	// Spans are up to 16 passages that both have, the longest first, if the job looks for passages.
	Spans []Span `json:"spans,omitempty" parquet:"spans,list"`
	// MoreSpans is the number of further passages.
	MoreSpans int64 `json:"more_spans,omitempty" parquet:"more_spans"`
	// Rarity says how rare the passages are, with --rarity. It is 0 for identical documents.
	Rarity float64 `json:"rarity,omitempty" parquet:"rarity"`

	// Kind says which fields the row is written with. A row that is read has none.
	Kind string `json:"-" parquet:"-"`
}

// Span is a passage that two documents have in common: where it begins and ends in the text of each, in bytes. In JSON
// the two ends are one field.
type Span struct {
	// ABegin is where it begins in the first document.
	ABegin int64 `parquet:"a_begin"`
	// AEnd is where it ends there.
	AEnd int64 `parquet:"a_end"`
	// BBegin is where it begins in the second document.
	BBegin int64 `parquet:"b_begin"`
	// BEnd is where it ends there.
	BEnd int64 `parquet:"b_end"`
	// Words is the number of its words, in the text where it has fewer.
	Words int64 `parquet:"words"`
}

// SpanJSON is a [Span] as JSON has it.
type SpanJSON struct {
	// A is where it begins and ends in the first document, in bytes.
	A [2]int64 `json:"a"`
	// B is where it begins and ends in the second document, in bytes.
	B [2]int64 `json:"b"`
	// Words is the number of its words, in the text where it has fewer.
	Words int64 `json:"words"`
}

// MarshalJSON writes the passage as rows have it.
func (s Span) MarshalJSON() ([]byte, error) { return s.appendJSON(nil, nil), nil }

func (s Span) appendJSON(b []byte, _ *figures) []byte {
	return fmt.Appendf(b, `{"a":[%d,%d],"b":[%d,%d],"words":%d}`, s.ABegin, s.AEnd, s.BBegin, s.BEnd, s.Words)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Span) UnmarshalJSON(b []byte) error {
	var from SpanJSON
	err := json.Unmarshal(b, &from)
	*s = Span{from.A[0], from.A[1], from.B[0], from.B[1], from.Words}
	return err
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

// NewHammingPair returns the row of two documents whose fingerprints of that many bits differ in distance of them.
func NewHammingPair(a, b string, distance, bits int) Pair {
	return Pair{
		A:         a,
		B:         b,
		Hamming:   int64(distance),
		Cosine:    Cosine(distance, bits),
		Exact:     true,
		Identical: distance == 0,
		Kind:      HammingPair,
	}
}

// Cosine returns the estimate of [sketch.Cosine] to four digits. Its own error is larger than that: some hundredths for
// fingerprints of 64 bits. For a distance of 0 it is 1, whatever the number of bits.
func Cosine(distance, bits int) float64 {
	if distance == 0 {
		return 1
	}
	return math.Round(sketch.Cosine(distance, bits)*1e4) / 1e4
}
