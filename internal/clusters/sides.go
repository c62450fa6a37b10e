package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

// separate sets the edges apart that join equal documents of one side. These are no pairs. They say that a document
// shares the edges of another one: so it gets a row for one of these. Where the other one has no edge, both are in no
// cluster. Without sides all edges are pairs.
func (s *Shard) separate() error {
	if s.pairs = s.edges; s.members.Sides() == nil {
		return nil
	}
	all := s.edges
	repeats := 0
	for i := range all.Len() {
		if s.isWithinSide(all.At(i)) {
			repeats++
		}
	}
	s.edges = paged.New[int, records.Edge[records.Number]](s.store, all.Len()-repeats)
	pairs, n := paged.New[int, records.Edge[records.Number]](s.store, all.Len()), 0
	for i := range all.Len() {
		if e := all.At(i); !s.isWithinSide(e) {
			s.edges.Set(n, e)
			pairs.Set(n, e)
			n++
		}
	}
	s.repeats(all, func(e records.Edge[records.Number]) {
		pairs.Set(n, e)
		n++
	})
	pairs.Cut(n)
	order := func(a, b records.Edge[records.Number]) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	}
	var err error
	s.pairs, err = paged.Sort(pairs, func(run []records.Edge[records.Number]) error {
		slices.SortFunc(run, order)
		return nil
	}, order)
	return err
}

func (s *Shard) isWithinSide(e records.Edge[records.Number]) bool {
	sides := s.members.Sides()
	return sides.At(e.A) == sides.At(e.B)
}

// repeats visits the pairs of documents that are equal to an earlier one of their side, given all edges. All edges of
// the earlier one are their own as well, but passages may stand at other places in their texts. Each has a pair with
// the first partner of the earlier one. Of documents without a partner repeats makes clusters of one document.
func (s *Shard) repeats(all *edges, visit func(records.Edge[records.Number])) {
	first := listIn[uint32](s.store, s.end()) // the number of the edge to the first partner of each document, plus 1
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		// Edges are ordered by A, then B: so partners before a document come before those after it, in order.
		for _, end := range [2]records.Number{e.A, e.B} {
			if first.At(end) == 0 {
				first.Set(end, uint32(i+1))
			}
		}
	}
	for i := range all.Len() {
		e := all.At(i)
		if !s.isWithinSide(e) {
			continue
		}
		if first.At(e.A) == 0 {
			s.members.SetFirst(e.A, e.A)
			s.members.SetFirst(e.B, e.B)
			continue
		}
		edge := s.edges.At(int(first.At(e.A) - 1))
		partner := edge.A ^ edge.B ^ e.A
		visit(records.Edge[records.Number]{A: min(e.B, partner), B: max(e.B, partner), Score: edge.Score})
	}
}
