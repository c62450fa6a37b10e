package output

import (
	"fmt"
	"math"
	"strconv"
)

// AppendFloat appends the finite number x. It uses the fewest digits that distinguish x from its neighbours.
func AppendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// AppendReject appends the row of a record that could not be read as a document.
func AppendReject(b []byte, file string, position int64, fault string) []byte {
	b = append(b, `{"file":`...)
	b = AppendString(b, file)
	b = append(b, `,"position":`...)
	b = strconv.AppendInt(b, position, 10)
	b = append(b, `,"error":`...)
	b = AppendString(b, fault)
	return append(b, "}\n"...)
}

// Pair is a row of pairs. The names are JSON strings.
type Pair struct {
	A, B          []byte
	Shared, Union uint32 // shingles in both documents, and in at least one
	SizeA, SizeB  int
	Identical     bool
	Estimate      bool
	// Spans are passages that both documents contain. MoreSpans is how many more there are.
	Spans     []Span
	MoreSpans int
}

// Span is a passage that two documents share. It gives the bytes of their texts, from the first of the
// passage up to the one behind its end.
type Span struct {
	A, B  [2]uint32
	Words uint32 // in both
}

// appendSpans appends the fields of spans, if there are any.
func appendSpans(b []byte, spans []Span, more int) []byte {
	for i, s := range spans {
		if i == 0 {
			b = append(b, `,"spans":[`...)
		} else {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"a":[%d,%d],"b":[%d,%d],"words":%d}`, s.A[0], s.A[1], s.B[0], s.B[1], s.Words)
	}
	if len(spans) > 0 {
		b = append(b, ']')
	}
	if more > 0 {
		b = fmt.Appendf(b, `,"more_spans":%d`, more)
	}
	return b
}

// AppendPair appends the row of an edge.
func AppendPair(b []byte, p Pair) []byte {
	b = append(b, `{"a":`...)
	b = append(b, p.A...)
	b = append(b, `,"b":`...)
	b = append(b, p.B...)
	if p.Identical {
		return append(b, `,"jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`+"\n"...)
	}
	jaccard := float64(p.Shared) / float64(p.Union)
	shared := float64(p.Shared)
	if p.Estimate {
		// |A and B| follows from J = |A and B| / |A or B| and the known sizes.
		shared = min(jaccard*float64(p.SizeA+p.SizeB)/(1+jaccard), float64(p.SizeA), float64(p.SizeB))
	}
	b = append(b, `,"jaccard":`...)
	b = AppendFloat(b, jaccard)
	b = append(b, `,"containment_a":`...)
	b = AppendFloat(b, shared/float64(p.SizeA))
	b = append(b, `,"containment_b":`...)
	b = AppendFloat(b, shared/float64(p.SizeB))
	b = append(b, `,"exact":`...)
	b = strconv.AppendBool(b, !p.Estimate)
	b = appendSpans(b, p.Spans, p.MoreSpans)
	return append(b, "}\n"...)
}

// AppendHammingPair appends the row of two documents, which are named by JSON strings. Distance is the number
// of bits in which their fingerprints differ.
func AppendHammingPair(b, first, second []byte, distance int) []byte {
	b = append(b, `{"a":`...)
	b = append(b, first...)
	b = append(b, `,"b":`...)
	b = append(b, second...)
	b = append(b, `,"hamming":`...)
	b = strconv.AppendInt(b, int64(distance), 10)
	b = append(b, `,"exact":true`...)
	if distance == 0 {
		b = append(b, `,"identical":true`...)
	}
	return append(b, "}\n"...)
}

// Member is a document of a cluster, for the rows of clusters and removed. ID, Ref, Cluster and KeptID are
// JSON strings.
type Member struct {
	ID, Ref, Cluster, KeptID []byte
	Kept                     bool
	Similarity               float64
	Size                     int
	// Least and Mean are the smallest and the mean similarity between a removed document of the cluster and
	// the document that is kept for it.
	Least, Mean float64
	// Reference says that the document is in the reference corpus. In a row of removed it says so of the kept
	// document.
	Reference bool
}

// AppendMember appends the row of a document in clusters.
func AppendMember(b []byte, m Member) []byte {
	b = append(b, `{"cluster":`...)
	b = append(b, m.Cluster...)
	b = append(b, `,"id":`...)
	b = append(b, m.ID...)
	b = append(b, `,"ref":`...)
	b = append(b, m.Ref...)
	b = append(b, `,"kept":`...)
	b = strconv.AppendBool(b, m.Kept)
	b = append(b, `,"similarity":`...)
	b = AppendFloat(b, m.Similarity)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, int64(m.Size), 10)
	b = append(b, `,"least":`...)
	b = AppendFloat(b, m.Least)
	b = append(b, `,"mean":`...)
	b = AppendFloat(b, math.Round(m.Mean*1e4)/1e4)
	return m.end(b)
}

// end appends the mark of a reference, if it is one, and the end of the row.
func (m *Member) end(b []byte) []byte {
	if m.Reference {
		b = append(b, `,"reference":true`...)
	}
	return append(b, "}\n"...)
}

// Sketch is a row of sketches. ID and Ref are JSON strings.
type Sketch struct {
	ID, Ref []byte
	// Shingles is the number of distinct shingles or features.
	Shingles int
	// SimHash is the SimHash fingerprint. The first word has the lowest bits.
	SimHash []uint64
	// Fingerprint holds the smallest hashes of the set in ascending order.
	Fingerprint []uint64
}

// AppendSketch appends the row of a document in sketches. The SimHash is one hexadecimal number with the
// highest bits first.
func AppendSketch(b []byte, s Sketch) []byte {
	b = append(b, `{"id":`...)
	b = append(b, s.ID...)
	b = append(b, `,"ref":`...)
	b = append(b, s.Ref...)
	b = append(b, `,"shingles":`...)
	b = strconv.AppendInt(b, int64(s.Shingles), 10)
	b = append(b, `,"simhash":"`...)
	for i := len(s.SimHash) - 1; i >= 0; i-- {
		b = fmt.Appendf(b, "%016x", s.SimHash[i])
	}
	b = append(b, `","fingerprint":[`...)
	for i, hash := range s.Fingerprint {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, hash, 10)
	}
	return append(b, "]}\n"...)
}

// AppendRemoved appends the row of a document in removed.
func AppendRemoved(b []byte, m Member) []byte {
	b = append(b, `{"id":`...)
	b = append(b, m.ID...)
	b = append(b, `,"ref":`...)
	b = append(b, m.Ref...)
	b = append(b, `,"cluster":`...)
	b = append(b, m.Cluster...)
	b = append(b, `,"kept_id":`...)
	b = append(b, m.KeptID...)
	b = append(b, `,"similarity":`...)
	b = AppendFloat(b, m.Similarity)
	return m.end(b)
}
