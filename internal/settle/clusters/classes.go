package clusters

import (
	"iter"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
)

// classes are the classes of identical documents, with numbers from 0 in the order of their first documents.
type classes struct {
	of     []records.Number // the class of each document
	firsts []records.Number // the first document of each class
}

// newClasses returns the trees of a forest as classes. It takes the forest's memory.
func newClasses(identical graphs.Forest[records.Number]) classes {
	n := 0
	for i, parent := range identical {
		if parent == records.Number(i) {
			n++
		}
	}
	c := classes{of: identical, firsts: make([]records.Number, 0, n)}
	for i, parent := range identical {
		// A parent is smaller than its child, so its own entry is a class already.
		if parent == records.Number(i) {
			identical[i] = records.Number(len(c.firsts))
			c.firsts = append(c.firsts, parent)
		} else {
			identical[i] = identical[parent]
		}
	}
	return c
}

// first returns the first document that is identical to a document.
func (c *classes) first(i records.Number) records.Number { return c.firsts[c.of[i]] }

// twins are pairs of identical documents. A cluster may be millions of equal documents, each joined to the first one by an edge that
// says nothing more. Such an edge takes 4 bytes in place of 24.
type twins struct {
	// next holds, for the first document of a class, its first twin, and for each twin the next one; 0 for none. It is nil without twins.
	next  []records.Number
	pairs int           // how many there are
	score records.Score // of each pair, if documents are compared by distance
}

// marked stands in next for a twin, until all are known.
const marked = ^records.Number(0)

// sortEdges sorts the edges that each visits. The ones of twins are noted apart.
func (s *Shard) sortEdges(each func(visit func(records.Edge[records.Number])) error) (err error) {
	s.edges, err = records.SortEdges(func(visit func(records.Edge[records.Number])) error {
		return each(func(e records.Edge[records.Number]) {
			if !s.isTwin(e) {
				visit(e)
				return
			}
			if s.twins.next == nil {
				s.twins.next = make([]records.Number, s.end())
			}
			s.twins.next[e.B] = marked
		})
	})
	if err != nil || s.twins.next == nil {
		return err
	}
	next := s.twins.next
	for _, e := range s.edges {
		if e.Identical() && s.classes.first(e.B) == e.A {
			next[e.B] = 0 // a heap has found it, too, and its edge has a mark
		}
	}
	for i := s.end(); i > 0; i-- {
		if twin := i - 1; next[twin] == marked {
			first := s.classes.first(twin)
			next[twin], next[first] = next[first], twin
			s.twins.pairs++
		}
	}
	return nil
}

// isTwin reports whether an edge joins a document to the first of its class, and its score follows from that. Documents with sides
// have no twins: an edge within a side is no pair.
func (s *Shard) isTwin(e records.Edge[records.Number]) bool {
	if !e.Identical() || s.members.Sides() != nil || s.classes.first(e.B) != e.A {
		return false
	}
	return e.Score == s.twinScore(e.A)
}

// twinScore returns the score of the twins of a document.
func (s *Shard) twinScore(first records.Number) records.Score {
	if s.twins.score != (records.Score{}) {
		return s.twins.score
	}
	size := int(s.members.Size(first))
	return records.NewScore(size, size, false)
}

// withTwins yields sorted edges and the pairs of twins, in the order of rows.
func (s *Shard) withTwins(edges []records.Edge[records.Number]) iter.Seq[records.Edge[records.Number]] {
	return func(yield func(records.Edge[records.Number]) bool) {
		for first, twin := range s.twins.next {
			if twin == 0 || s.classes.first(records.Number(first)) != records.Number(first) {
				continue
			}
			for ; twin != 0; twin = s.twins.next[twin] {
				pair := records.Edge[records.Number]{A: records.Number(first), B: twin}
				for len(edges) > 0 && (edges[0].A < pair.A || edges[0].A == pair.A && edges[0].B < pair.B) {
					if !yield(edges[0]) {
						return
					}
					edges = edges[1:]
				}
				if pair.Score = s.twinScore(pair.A); !yield(pair) {
					return
				}
			}
		}
		for _, e := range edges {
			if !yield(e) {
				return
			}
		}
	}
}
