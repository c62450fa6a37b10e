// Package clusters makes clusters of documents that are joined by edges. [Labelling] finds the components of the
// similarity graph and gives their documents a place in the output. [Sending] brings the edges and the documents of
// each component to its output shard. A [Shard] decides which documents are kept, and gives the rows of the results.
package clusters

import (
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/keep"
)

// Shard holds the clusters of an output shard. A document is known by its number: its index in members.
type Shard struct {
	layout  *documents.Layout
	members []records.Member // whose ids are as rows write them
	edges   []records.Edge[records.Number]
	pairs   []records.Edge[records.Number] // the rows of pairs: the edges and, if documents have sides, others that follow
	sides   []uint64                       // of the documents, nil if they have none
	spans   []records.Span[records.Number] // spans of the edges, in their order
	first   graphs.Forest[records.Number]  // the first document identical to each
	choices []keep.Choice                  // nil without a decision
	// isDropped says that clusters go as a whole: a choice then leads to the document that a removed one is most like.
	isDropped bool
	size      []uint32 // documents in the cluster, by its first document
}

// ReadShard reads the clusters of an output shard: its documents, its edges and the passages that pairs have in common.
func ReadShard(layout *documents.Layout, w *work.Desk) (*Shard, error) {
	members, err := records.ReadMembers(&w.Reader, w.Pieces)
	if err != nil {
		return nil, err
	}
	edges, err := records.ReadEdges(&w.Reader, w.Pieces)
	if err != nil {
		return nil, err
	}
	s := newShard(layout, members, edges)
	if s.spans, err = records.ReadSpans(&w.Reader, w.Pieces); err != nil {
		return nil, err
	}
	w.Figures.Records += int64(len(members) + len(edges))
	return s, nil
}

func newShard(layout *documents.Layout, members []records.Member, edges []records.Edge[records.Number]) *Shard {
	s := &Shard{layout: layout, members: members, edges: edges, first: graphs.NewForest[records.Number](len(members))}
	for i := range members {
		members[i].Id = quoting.Text(members[i].Id)
	}
	for _, e := range edges {
		if e.Identical() {
			s.first.Union(e.A, e.B)
		}
	}
	s.first.Flatten()
	s.separate()
	s.countSizes()
	return s
}

// end returns the number after the last document's.
func (s *Shard) end() records.Number { return records.Number(len(s.members)) }

// reference reports whether a document is of the reference.
func (s *Shard) reference(i records.Number) bool { return s.members[i].Ref < s.layout.FirstInput }

// countSizes counts the documents of each cluster.
func (s *Shard) countSizes() {
	s.size = make([]uint32, len(s.members))
	for i := range s.members {
		s.size[s.members[i].First]++
	}
}

// name returns what other rows call a document: its id, or its ref if others share the id. Refs are written when a row
// needs them: the names of all documents of a very large cluster would take more memory than all else that is known of them.
func (s *Shard) name(i records.Number) string {
	if s.members[i].Repeated {
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
	return quoting.Text(s.layout.Inputs.RefText(nil, s.members[i].Ref))
}

// id returns the user's id as rows write it, or the ref of a document without one.
func (s *Shard) id(i records.Number) string {
	if len(s.members[i].Id) == 0 {
		return s.ref(i)
	}
	return s.members[i].Id
}

// IsDropped reports whether the decision removes clusters as a whole.
func (s *Shard) IsDropped() bool { return s.isDropped }

// capture returns what is known of a document as a web page. It is empty if that is nothing.
func (s *Shard) capture(i records.Number) records.Capture {
	if c := s.members[i].Capture; c != nil {
		return *c
	}
	return records.Capture{}
}

// Count counts the pairs of the shard and what became of its documents. Without a decision all are kept. It is an error
// if a document was removed for one that is removed, too: a cluster could lose all its documents.
func (s *Shard) Count(o *work.Outcome) error {
	o.Counts.Pairs += int64(len(s.pairs))
	for _, e := range s.pairs {
		if e.Identical() {
			o.Counts.Identical++
		}
	}
	for i := range s.end() {
		if !s.reference(i) && !(s.choices != nil && s.goes(i)) {
			o.Counts.Kept++
		}
	}
	if s.choices == nil {
		return nil
	}
	o.Skipped.Kept += s.unchecked()
	likesReference := s.likeReference()
	for i := range s.end() {
		if s.size[i] > 1 {
			o.Counts.Clusters++
			o.Counts.Clustered += int64(s.size[i])
		}
		if s.goes(i) {
			if s.goes(s.choices[i].Kept) && !s.isDropped {
				return fmt.Errorf("document %s was removed for one that is not kept", s.ref(i))
			}
			o.Counts.Removed++
			if likesReference[s.first[i]] {
				o.Counts.RemovedForReference++
			}
		}
	}
	return nil
}

// likeReference returns, for each class of identical documents by its first one, whether it holds a document of the
// reference or is joined to one.
func (s *Shard) likeReference() []bool {
	is := make([]bool, len(s.members))
	if s.layout.FirstInput == 0 {
		return is // there is no reference
	}
	for i := range s.end() {
		is[i] = s.reference(i)
	}
	for i := range s.edges {
		if edge, counts := s.rival(i); counts {
			is[edge.A] = is[edge.A] || s.reference(edge.B)
			is[edge.B] = is[edge.B] || s.reference(edge.A)
		}
	}
	return is
}

// Removed yields the removed documents, by number.
func (s *Shard) Removed(yield func(docref.Ref) bool) {
	for i := range records.Number(len(s.choices)) {
		if s.goes(i) && !yield(s.members[i].Ref) {
			return
		}
	}
}

// WriteRemoved writes the removed documents of each split.
func (s *Shard) WriteRemoved(run *runfile.Writer) error {
	for ref := range s.Removed {
		b, err := run.Record(records.Removed, documents.SplitOf(s.layout.Starts, ref), records.RefSize)
		if err != nil {
			return err
		}
		records.PutRef(b, ref)
	}
	return nil
}
