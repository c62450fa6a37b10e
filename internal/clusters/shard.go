// Package clusters makes clusters of documents that are joined by edges. [Labelling] finds the components of the
// similarity graph and gives their documents a place in the output. [Sending] brings the edges and the documents of
// each component to its output shard. A [Shard] decides which documents are kept, and gives the rows of the results.
package clusters

import (
	"cmp"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// Shard holds the clusters of an output shard. A document is known by its number: its index in members. Its lists lie
// in files where the store has no room for them.
type Shard struct {
	layout  *documents.Layout
	store   *paged.Store
	members *records.MemberList
	classes classes // of identical documents
	edges   *edges
	// the rows of pairs but for duplicates: the edges and, if documents have sides, others that follow
	pairs      *edges
	duplicates duplicates                     // further pairs
	spans      []records.Span[records.Number] // spans of the edges, in their order
	decision
	size *paged.List[records.Number, uint32] // documents in the cluster, by its first document
	// hasVariants says that edges of variants have a mark, and that clusters may be parts of components.
	hasVariants bool
	scratch     []byte // of a ref
}

type (
	// edges are sorted by A, then B.
	edges = paged.List[int, records.Edge[records.Number]]
	// numbers has a number for each document or class.
	numbers = keep.Numbers
)

// ReadShard reads the clusters of an output shard: its documents, its edges and the passages that pairs have in common.
// Lists of them take up to about that many bytes of memory, 0 for any number. The rule says whether variants are in one
// cluster. Whoever gets the shard must close it.
func ReadShard(layout *documents.Layout, w *work.TaskContext, bytes int64, rule variants.Rule) (*Shard, error) {
	store := &paged.Store{Bytes: bytes}
	if storage.Scheme(string(w.Runs.Folder)) == "" {
		store.Folder = string(w.Runs.Folder)
	}
	members, err := records.ReadMembers(&w.Reader, w.Pieces, store)
	if err != nil {
		store.Close()
		return nil, err
	}
	s, err := readEdges(layout, members, store, w, rule)
	if err != nil {
		members.Close()
		store.Close()
	}
	return s, err
}

func readEdges(layout *documents.Layout, members *records.MemberList, store *paged.Store,
	w *work.TaskContext, rule variants.Rule,
) (*Shard, error) {
	each, err := records.EachEdge(&w.Reader, w.Pieces)
	if err != nil {
		return nil, err
	}
	s, err := newShard(layout, members, store, func(visit func(records.Edge[records.Number])) error {
		asking := asking{stopped: w.Run.Stopped}
		err := each(func(e records.Edge[records.Number]) {
			if asking.goesOn() {
				e.A, e.B = e.A-members.Lowest(), e.B-members.Lowest()
				visit(e)
			}
		})
		return cmp.Or(err, asking.err)
	}, rule)
	if err != nil {
		return nil, err
	}
	if s.spans, err = records.ReadSpans(&w.Reader, w.Pieces); err != nil {
		return nil, err
	}
	for i := range s.spans {
		s.spans[i].A, s.spans[i].B = s.spans[i].A-members.Lowest(), s.spans[i].B-members.Lowest()
	}
	w.Figures.Records += int64(s.members.Len() + s.edges.Len() + s.duplicates.pairs)
	return s, nil
}

func newShard(
	layout *documents.Layout, members *records.MemberList, store *paged.Store,
	each func(visit func(records.Edge[records.Number])) error, rule variants.Rule,
) (*Shard, error) {
	s := &Shard{layout: layout, members: members, store: store}
	identical := newForest(store, members.Len())
	err := each(func(e records.Edge[records.Number]) {
		if !e.Identical() {
			return
		}
		identical.union(e.A, e.B)
		if _, isDistance := e.Hamming(); isDistance {
			s.duplicates.score = records.HammingScore(0, int(e.Union()))
		}
	})
	if err != nil {
		return nil, err
	}
	s.classes = newClasses(store, identical)
	if err := s.sortEdges(each); err != nil {
		return nil, err
	}
	s.setVariantsApart(rule)
	if err := s.separate(); err != nil {
		return nil, err
	}
	s.countSizes()
	return s, nil
}

// Err returns a fault that has made names of documents unsure. The rows that were written are then of no use.
func (s *Shard) Err() error { return s.members.Err() }

// Close gives back what the shard holds apart from its memory.
func (s *Shard) Close() {
	s.members.Close()
	s.store.Close()
}

// end returns the number after the last document's.
func (s *Shard) end() records.Number { return records.Number(s.members.Len()) }

func (s *Shard) reference(i records.Number) bool { return s.members.Ref(i) < s.layout.FirstInput }

func listIn[T any](store *paged.Store, n records.Number) *paged.List[records.Number, T] {
	return paged.New[records.Number, T](store, int(n))
}

func (s *Shard) countSizes() {
	s.size = listIn[uint32](s.store, s.end())
	for i := range s.end() {
		first := s.members.First(i)
		s.size.Set(first, s.size.At(first)+1)
	}
}

// name returns what other rows call a document: its id, or its ref if others share the id. Refs are written when
// needed: in a very large cluster the names would take more memory than all else.
func (s *Shard) name(i records.Number) string {
	if s.members.Repeated(i) {
		return s.ref(i)
	}
	return s.id(i)
}

// namer names documents. Many in a row are the same.
type namer struct {
	*Shard
	last     records.Number
	lastName string
	hasLast  bool
}

// name returns what rows call a document.
func (n *namer) name(i records.Number) string {
	if !n.hasLast || n.last != i {
		n.last, n.lastName, n.hasLast = i, n.Shard.name(i), true
	}
	return n.lastName
}

// ref returns path:position as rows write it.
func (s *Shard) ref(i records.Number) string {
	s.scratch = s.layout.Inputs.RefText(s.scratch[:0], s.members.Ref(i))
	return quoting.Text(s.scratch)
}

// id returns the user's id as rows write it, or the ref of a document without one.
func (s *Shard) id(i records.Number) string {
	if id := s.members.ID(i); id != "" {
		return id
	}
	return s.ref(i)
}

// Sent counts what [Sending] brings to the shard: documents that rows call by their refs, and input documents.
func (s *Shard) Sent() (namedByRef, ofInput int64) {
	for i := range s.end() {
		if s.members.Repeated(i) {
			namedByRef++
		}
		if !s.reference(i) {
			ofInput++
		}
	}
	return namedByRef, ofInput
}

// IsDropped reports whether the decision removes clusters as a whole.
func (s *Shard) IsDropped() bool { return s.rule.Drop == keep.Clusters }

// Findings returns all that the clusters of the shard add to what a job has found: counts, examples, and what warnings
// are about. Whatever makes clusters gets them here. Least is the least similarity of an edge, from 0 to 1.
func (s *Shard) Findings(least float64) (f findings.Findings, err error) {
	if err = s.count(&f); err != nil {
		return f, err
	}
	s.countSources(&f.Sources)
	if s.isDecided() {
		s.doubt(&f, least)
	}
	return f, nil
}

// count counts the pairs of the shard and what became of its documents. Without a decision all are kept. It is an error
// if a document was removed for one that is removed, too: a cluster could lose all its documents.
func (s *Shard) count(o *findings.Findings) error {
	o.Counts.Pairs += int64(s.pairs.Len() + s.duplicates.pairs)
	o.Counts.Identical += int64(s.duplicates.pairs)
	for i := range s.pairs.Len() {
		if e := s.pairs.At(i); e.Identical() {
			o.Counts.Identical++
		} else if e.Variant() {
			o.Counts.Variants++
		}
	}
	for i := range s.end() {
		if !s.reference(i) && !s.goes(i) {
			o.Counts.Kept++
		}
	}
	if !s.isDecided() {
		return nil
	}
	o.Skipped.Kept += s.unchecked()
	o.Sizes = findings.Sizes{}
	likesReference := s.likeReference()
	for i := range s.end() {
		if size := s.size.At(i); size > 1 {
			o.Counts.Clusters++
			o.Counts.Clustered += int64(size)
			o.Sizes[int64(size)]++
		}
		if s.goes(i) {
			if s.goes(s.choice(i).Kept) && !s.IsDropped() {
				return fmt.Errorf("document %s was removed for one that is not kept", s.ref(i))
			}
			o.Counts.Removed++
			if likesReference != nil && likesReference.At(s.classes.of.At(i)) {
				o.Counts.RemovedForReference++
			}
		}
	}
	return nil
}

// likeReference returns, for each class of identical documents, whether it begins with a document of the reference or
// is joined to one that does. It returns nil if there is no reference.
func (s *Shard) likeReference() *paged.List[records.Number, bool] {
	if s.layout.FirstInput == 0 {
		return nil
	}
	is := listIn[bool](s.store, s.classes.len())
	for class := range s.classes.len() {
		is.Set(class, s.reference(s.classes.firsts.At(class)))
	}
	for i := range s.edges.Len() {
		if edge, counts := s.rival(i); counts {
			a, b := s.classes.firsts.At(edge.A), s.classes.firsts.At(edge.B)
			is.Set(edge.A, is.At(edge.A) || s.reference(b))
			is.Set(edge.B, is.At(edge.B) || s.reference(a))
		}
	}
	return is
}

// Removed yields the removed documents, by number.
func (s *Shard) Removed(yield func(docref.Ref) bool) {
	for i := range s.end() {
		if s.goes(i) && !yield(s.members.Ref(i)) {
			return
		}
	}
}

// WriteRemoved writes the removed documents of each split.
func (s *Shard) WriteRemoved(run *runfile.Writer) error {
	for ref := range s.Removed {
		if err := records.WriteFixed(run, records.Removed, documents.SplitOf(s.layout.Starts, ref), ref); err != nil {
			return err
		}
	}
	return nil
}

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
// the first partner of the earlier one, a variant only if all are. Documents without a partner become clusters of one
// document.
func (s *Shard) repeats(all *edges, visit func(records.Edge[records.Number])) {
	first := listIn[uint32](s.store, s.end()) // the number of the edge to the first partner of each document, plus 1
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		// Edges are ordered by A, then B: so partners before a document come before those after it, in order.
		for _, end := range [2]records.Number{e.A, e.B} {
			if at := first.At(end); at == 0 || !e.Variant() && s.edges.At(int(at-1)).Variant() {
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
