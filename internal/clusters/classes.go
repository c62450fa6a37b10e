package clusters

import (
	"iter"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

// forest is [graphs.Forest] for documents that may be too many to be held.
type forest struct{ *numbers }

func newForest(store *paged.Store, n int) forest {
	f := forest{paged.New[records.Number, records.Number](store, n)}
	for i := range records.Number(n) {
		f.Set(i, i)
	}
	return f
}

// find returns the root of a document and halves the path to it.
func (f forest) find(x records.Number) records.Number {
	for parent := f.At(x); parent != x; parent = f.At(x) {
		above := f.At(parent)
		f.Set(x, above)
		x = above
	}
	return x
}

// union joins the trees of a and b. The smallest document of a tree is its root.
func (f forest) union(a, b records.Number) {
	a, b = f.find(a), f.find(b)
	f.Set(max(a, b), min(a, b))
}

// classes are the classes of identical documents, with numbers from 0 in the order of their first documents.
type classes struct {
	of     *numbers // the class of each document
	firsts *numbers // the first document of each class
}

// newClasses returns the trees of a forest as classes. It takes the forest's memory.
func newClasses(store *paged.Store, identical forest) classes {
	end, n := records.Number(identical.Len()), 0
	for i := range end {
		if identical.At(i) == i {
			n++
		}
	}
	c := classes{of: identical.numbers, firsts: paged.New[records.Number, records.Number](store, n)}
	class := records.Number(0)
	for i := range end {
		// A parent is smaller than its child, so its own entry is a class already.
		if parent := identical.At(i); parent == i {
			c.firsts.Set(class, i)
			identical.Set(i, class)
			class++
		} else {
			identical.Set(i, identical.At(parent))
		}
	}
	return c
}

func (c *classes) len() records.Number { return records.Number(c.firsts.Len()) }

// first returns the first document that is identical to a document.
func (c *classes) first(i records.Number) records.Number { return c.firsts.At(c.of.At(i)) }

// duplicates are pairs of identical documents. A cluster may be millions of equal documents, each joined to the first
// one by an edge that says nothing more. Such an edge takes 4 bytes instead of 24.
type duplicates struct {
	// next holds, for the first document of a class, its first duplicate, and for each duplicate the next one; 0 for
	// none. It is nil without duplicates.
	next  *numbers
	pairs int           // how many there are
	score records.Score // of each pair, if documents are compared by distance
}

// marked is stored in next for a duplicate, until all are known.
const marked = ^records.Number(0)

// sortEdges sorts the edges that each visits. The ones of duplicates are noted apart.
func (s *Shard) sortEdges(each func(visit func(records.Edge[records.Number])) error) (err error) {
	s.edges, err = records.SortEdges(s.store, func(visit func(records.Edge[records.Number])) error {
		return each(func(e records.Edge[records.Number]) {
			if !s.isDuplicate(e) {
				visit(e)
				return
			}
			if s.duplicates.next == nil {
				s.duplicates.next = listIn[records.Number](s.store, s.end())
			}
			s.duplicates.next.Set(e.B, marked)
		})
	})
	if err != nil || s.duplicates.next == nil {
		return err
	}
	next := s.duplicates.next
	for i := range s.edges.Len() {
		if e := s.edges.At(i); e.Identical() && s.classes.first(e.B) == e.A {
			next.Set(e.B, 0) // a hot group has found it, too, and its edge has a mark
		}
	}
	for i := s.end(); i > 0; i-- {
		if duplicate := i - 1; next.At(duplicate) == marked {
			first := s.classes.first(duplicate)
			next.Set(duplicate, next.At(first))
			next.Set(first, duplicate)
			s.duplicates.pairs++
		}
	}
	return nil
}

// isDuplicate reports whether an edge joins a document to the first of its class, and its score follows from that.
// Documents with sides have no duplicates: an edge within a side is no pair.
func (s *Shard) isDuplicate(e records.Edge[records.Number]) bool {
	if !e.Identical() || s.members.Sides() != nil || s.classes.first(e.B) != e.A {
		return false
	}
	return e.Score == s.duplicateScore(e.A)
}

func (s *Shard) duplicateScore(first records.Number) records.Score {
	if s.duplicates.score != (records.Score{}) {
		return s.duplicates.score
	}
	size := int(s.members.Size(first))
	return records.NewScore(size, size, false)
}

// withDuplicates yields sorted edges and the pairs of duplicates, in the order of rows.
func (s *Shard) withDuplicates(of *edges) iter.Seq[records.Edge[records.Number]] {
	return func(yield func(records.Edge[records.Number]) bool) {
		next := 0 // edge
		before := func(pair *records.Edge[records.Number]) bool {
			for ; next < of.Len(); next++ {
				e := of.At(next)
				if pair != nil && (e.A > pair.A || e.A == pair.A && e.B >= pair.B) {
					break
				}
				if !yield(e) {
					return false
				}
			}
			return true
		}
		for first := records.Number(0); s.duplicates.next != nil && first < s.end(); first++ {
			duplicate := s.duplicates.next.At(first)
			if duplicate == 0 || s.classes.first(first) != first {
				continue
			}
			score := s.duplicateScore(first)
			for ; duplicate != 0; duplicate = s.duplicates.next.At(duplicate) {
				pair := records.Edge[records.Number]{A: first, B: duplicate, Score: score}
				if !before(&pair) || !yield(pair) {
					return
				}
			}
		}
		before(nil)
	}
}
