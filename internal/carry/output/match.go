package output

import "strconv"

// Match is a row of a query: a document, and a similar document of the index.
type Match struct {
	// ID, Ref, MatchID and MatchRef are JSON strings.
	ID, Ref, MatchID, MatchRef []byte
	Shared, Size, MatchSize    int // shingles in both documents, and in each document
	// Identical says that the documents are the same under the measure. Such documents may have no shingles.
	Identical bool
	// ByDistance says that the query compared SimHash fingerprints and not sets. Distance is the number of
	// their Bits in which the fingerprints differ.
	ByDistance     bool
	Distance, Bits int
	// Reference says that the document of the index is in its reference corpus.
	Reference bool
	// Added says that the match is not of the index: it has been asked about before.
	Added bool
}

// Jaccard returns the similarity of the two documents.
func (m *Match) Jaccard() float64 {
	if m.Identical {
		return 1
	}
	return float64(m.Shared) / float64(m.Size+m.MatchSize-m.Shared)
}

// AppendMatch appends the row of a match.
func AppendMatch(b []byte, m Match) []byte {
	b = append(b, `{"id":`...)
	b = append(b, m.ID...)
	b = append(b, `,"ref":`...)
	b = append(b, m.Ref...)
	b = append(b, `,"match":`...)
	b = append(b, m.MatchID...)
	b = append(b, `,"match_ref":`...)
	b = append(b, m.MatchRef...)
	switch {
	case m.ByDistance:
		b = append(b, `,"hamming":`...)
		b = strconv.AppendInt(b, int64(m.Distance), 10)
		b = append(b, `,"cosine":`...)
		b = AppendFloat(b, Cosine(m.Distance, m.Bits))
		if m.Distance == 0 {
			b = append(b, `,"identical":true`...)
		}
	case m.Identical:
		b = append(b, `,"jaccard":1,"containment_a":1,"containment_b":1,"identical":true`...)
	default:
		b = append(b, `,"jaccard":`...)
		b = AppendFloat(b, m.Jaccard())
		b = append(b, `,"containment_a":`...)
		b = AppendFloat(b, float64(m.Shared)/float64(m.Size))
		b = append(b, `,"containment_b":`...)
		b = AppendFloat(b, float64(m.Shared)/float64(m.MatchSize))
	}
	if m.Reference {
		b = append(b, `,"reference":true`...)
	}
	if m.Added {
		b = append(b, `,"added":true`...)
	}
	return append(b, "}\n"...)
}
