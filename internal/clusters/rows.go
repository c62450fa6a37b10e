package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
)

// ClusterRows passes the rows of clusters in order. The shard must be decided.
func (s *Shard) ClusterRows(row func([]byte) error) error {
	// Documents stand by component; a component's stars may interleave.
	order := s.numbers()
	slices.SortStableFunc(order, func(a, b records.Number) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	cohesions := s.cohesions()
	var b []byte
	for _, i := range order {
		first := s.members[i].First
		if s.size[first] < 2 {
			continue
		}
		b = output.AppendMember(b[:0], output.Member{
			ID: s.appendID(nil, i), Ref: s.appendRef(nil, i), Cluster: s.names[first],
			Kept: !s.goes(i), Similarity: s.choices[i].Similarity, Size: int(s.size[first]),
			Least: cohesions[first].least, Mean: cohesions[first].sum / float64(cohesions[first].gone), Reference: s.reference(i),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

// cohesion is how similar the removed documents of a cluster are to those kept.
type cohesion struct {
	least, sum float64
	gone       int
}

// cohesions returns the cohesion of each cluster, by its first document.
func (s *Shard) cohesions() []cohesion {
	all := make([]cohesion, len(s.members))
	for i := range s.end() {
		if !s.goes(i) {
			continue
		}
		c := s.choices[i]
		of := &all[s.members[i].First]
		if of.gone == 0 || c.Similarity < of.least {
			of.least = c.Similarity
		}
		of.sum += c.Similarity
		of.gone++
	}
	return all
}

// PairRows passes the rows of pairs in order.
func (s *Shard) PairRows(row func([]byte) error) error {
	var b []byte
	var spans []output.Span
	more, rest := 0, s.spans
	for _, e := range s.edges {
		if distance, is := e.Hamming(); is {
			b = output.AppendHammingPair(b[:0], s.names[e.A], s.names[e.B], int(distance))
		} else {
			spans, more, rest = takeSpans(spans, rest, e)
			b = output.AppendPair(b[:0], output.Pair{
				A: s.names[e.A], B: s.names[e.B], Shared: e.Shared, Union: e.Union(),
				SizeA: int(s.members[e.A].Size), SizeB: int(s.members[e.B].Size),
				Identical: e.Identical(), Estimate: e.Estimate(), Spans: spans, MoreSpans: more,
			})
		}
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

// takeSpans takes the spans of an edge from the front of the spans of a shard.
func takeSpans(
	rows []output.Span, spans []records.Span[records.Number], e records.Edge[records.Number],
) (of []output.Span, more int, rest []records.Span[records.Number]) {
	rows = rows[:0]
	for len(spans) > 0 && spans[0].A == e.A && spans[0].B == e.B {
		s := spans[0]
		rows = append(rows, output.Span{A: [2]uint32{s.StartA, s.EndA}, B: [2]uint32{s.StartB, s.EndB}, Words: s.Words})
		more, spans = int(s.More), spans[1:]
	}
	return rows, more, spans
}

// RemovedRows passes the rows of removed documents in order. The shard must be decided.
func (s *Shard) RemovedRows(row func([]byte) error) error {
	var b []byte
	for i := range s.end() {
		if !s.goes(i) {
			continue
		}
		c := s.choices[i]
		b = output.AppendRemoved(b[:0], output.Member{
			ID: s.appendID(nil, i), Ref: s.appendRef(nil, i), Cluster: s.names[s.members[i].First],
			KeptID: s.names[c.Kept], Similarity: c.Similarity, Reference: s.reference(c.Kept),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}
