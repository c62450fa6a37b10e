package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/paged"
)

// repeat says that a document is equal to an earlier one of its side. All edges of that one are its own as well. But
// passages may stand at other places in its text.
type repeat struct {
	document records.Number
	// edge is the edge of the earlier document to the first one that it is paired with. partner is that one.
	edge    records.Edge[records.Number]
	partner records.Number
}

// separate sets the edges apart that join equal documents of one side. These are no pairs. They say that a document
// shares the edges of another one: so it gets a row for one of these. Where the other one has no edge, both are in no
// cluster. Without sides all edges are pairs.
func (s *Shard) separate() {
	if s.members.Sides() == nil {
		s.pairs = s.edges
		return
	}
	all, _ := s.edges.Whole()
	own := slices.DeleteFunc(slices.Clone(all), s.isWithinSide)
	pairs := slices.Clone(own)
	for _, r := range s.repeats(all, own) {
		pairs = append(pairs, records.Edge[records.Number]{
			A: min(r.document, r.partner), B: max(r.document, r.partner), Score: r.edge.Score,
		})
	}
	slices.SortFunc(pairs, func(a, b records.Edge[records.Number]) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	s.edges, s.pairs = paged.Of[int](s.store, own), paged.Of[int](s.store, pairs)
}

// isWithinSide reports whether an edge joins documents of one side.
func (s *Shard) isWithinSide(e records.Edge[records.Number]) bool {
	sides := s.members.Sides()
	return sides[e.A] == sides[e.B]
}

// repeats returns the documents that share the edges of an earlier one, given all edges and the ones that are pairs. Of those that share
// none it makes clusters of one document.
func (s *Shard) repeats(all, pairs []records.Edge[records.Number]) (list []repeat) {
	first := make([]int, s.end()) // the number of the edge to the first partner of each document, plus 1
	for i, e := range pairs {
		// Edges are ordered by A, then B: so partners before a document come before those after it, in order.
		for _, end := range [2]records.Number{e.A, e.B} {
			if first[end] == 0 {
				first[end] = i + 1
			}
		}
	}
	for _, e := range all {
		if !s.isWithinSide(e) {
			continue
		}
		if first[e.A] == 0 {
			s.members.SetFirst(e.A, e.A)
			s.members.SetFirst(e.B, e.B)
			continue
		}
		edge := pairs[first[e.A]-1]
		list = append(list, repeat{document: e.B, edge: edge, partner: edge.A ^ edge.B ^ e.A})
	}
	return list
}
