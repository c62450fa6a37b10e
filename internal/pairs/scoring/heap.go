package scoring

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// heap compares the documents of a heap, one after the other.
type heap struct {
	*Heaps
	w     *work.Desk
	edges *edgeWriter
	index *graphs.Leaders
	sides *sides // replaces index if documents have sides

	leaders     []document
	outlines    outlines
	joined      graphs.Forest[graphs.Leader] // leaders joined by edges
	found       []foundLeader                // leaders of the current document
	sizes       []int64                      // sizes of the stars, by leader
	group       documents.SkippedGroup       // all documents
	ofReference int64                        // documents of the reference without an equal one of the input
	compared    int64
	unchecked   int64 // leaders of the input that were not compared with all earlier ones
}

// newHeap returns a heap of the given number of documents.
func (h *Heaps) newHeap(w *work.Desk, edges *edgeWriter, size int) heap {
	prefix := func(n int) int { return lshbands.PrefixLength(h.Threshold, n) }
	return heap{Heaps: h, w: w, edges: edges, index: graphs.NewLeaders(size, h.Threshold, prefix)}
}

// add compares a document with the leaders and writes the edges that are worth a row. The document becomes a leader if
// it is like none, or is of the reference. It returns the leader that is most similar to the document, which may be the
// document itself.
func (h *heap) add(d *document) (star graphs.Leader, err error) {
	h.group.Note(d.ref)
	if class := d.class(); max(class.First, class.Second) < h.layout.FirstInput {
		h.ofReference++
	}
	if d.side != 0 {
		return h.addAcross(d)
	}
	candidates, isComplete := h.index.Candidates(d.set)
	h.find(d, candidates)
	if err := h.writeEdges(d); err != nil {
		return graphs.NoLeader, err
	}
	isReference := d.ref < h.layout.FirstInput
	if star = graphs.NoLeader; len(h.found) > 0 {
		star = h.found[0].leader
		h.sizes[star]++
		if !isReference {
			return star, nil
		}
	}
	if leader := h.index.Add(d.set); leader == graphs.NoLeader {
		isComplete = false
	} else {
		h.lead(d, h.index.Set(leader))
		if star == graphs.NoLeader {
			star = leader
		}
	}
	if len(h.found) == 0 && !isComplete && !isReference {
		h.unchecked++
		return star, h.layout.Mark(&h.w.Run, records.Unchecked, d.ref)
	}
	return star, nil
}

// lead makes a document the next leader. Its set must stay.
func (h *heap) lead(d *document, set []uint64) {
	leader := graphs.Leader(len(h.leaders))
	kept := *d
	kept.set, kept.common = set, slices.Clone(d.common)
	h.leaders = append(h.leaders, kept)
	h.outlines.add(&kept)
	h.joined = append(h.joined, leader)
	h.sizes = append(h.sizes, 1)
}

// foundLeader is a leader that the document is like.
type foundLeader struct {
	leader graphs.Leader
	score  records.Score
}

// find finds the leaders that a document is like, the most similar ones first.
func (h *heap) find(d *document, among []graphs.Leader) {
	h.found = h.found[:0]
	own := outlineOf(d)
	size, most := -1, 0 // of the leader before, and in how many shingles it may differ from the document
	mayBeApart := h.layout.FirstInput > 0 || d.side != 0
	distances := h.outlines.near(&own, among)
	for i, leader := range among {
		if n := h.outlines.sizes[leader]; n != size {
			size, most = n, h.mostDiffering(n, d.size)
		}
		if most < 0 || mayBeApart && candidates.Apart(h.leaders[leader].class(), d.class(), h.layout.FirstInput) {
			continue
		}
		h.compared++
		if int(distances[i]) > most || h.outlines.distance(1, leader, &own) > most {
			continue
		}
		if score, ok := h.score(&h.leaders[leader], d); ok {
			h.found = append(h.found, foundLeader{leader, score})
		}
	}
	slices.SortFunc(h.found, func(a, b foundLeader) int {
		return cmp.Or(cmp.Compare(b.score.Similarity(), a.score.Similarity()), cmp.Compare(a.leader, b.leader))
	})
}

// writeEdges writes some of the edges between a document and the leaders that were found: the first edge, the edge to
// the most similar leader of the reference, and each edge that joins leaders that were not joined.
func (h *heap) writeEdges(d *document) error {
	hasReference := false
	for i, l := range h.found {
		leader, first := &h.leaders[l.leader], h.found[0].leader
		isReference := leader.ref < h.layout.FirstInput
		if i > 0 && h.joined.Find(l.leader) == h.joined.Find(first) && (hasReference || !isReference) {
			continue
		}
		hasReference = hasReference || isReference
		h.joined.Union(first, l.leader)
		x, y, _ := candidates.Ends(leader.class(), d.class(), h.layout.FirstInput)
		l.score.Total |= records.HeapMark
		if err := h.edges.add(leader.of(x), d.of(y), l.score); err != nil {
			return err
		}
	}
	return nil
}

// score compares a document with a leader.
func (h *heap) score(leader, d *document) (records.Score, bool) {
	score, ok := h.Similarity.compare(leader, d)
	return score, ok && (!h.AcceptsAll || score.Similarity() >= h.Threshold)
}

// count adds up what was compared, and what was not.
func (h *heap) count() {
	h.w.Figures.Records += h.group.Documents
	h.w.Outcome.Counts.Candidates += h.compared
	pairs := candidates.PairsOf(h.group.Documents, h.ofReference)
	if h.sides != nil {
		pairs -= h.sides.apart()
	}
	skipped := h.layout.Skipped(&h.group, pairs-h.compared)
	skipped.Kept = h.unchecked
	findings.Merge(&h.w.Outcome.Skipped, skipped)
}
