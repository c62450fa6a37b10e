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
)

type hotGroup struct {
	*HotGroups
	w     *work.TaskContext
	edges *edgeWriter
	index *graphs.Pivots
	sides *sides // replaces index if documents have sides

	pivots      []document
	outlines    outlines
	joined      graphs.Forest[graphs.Pivot] // pivots joined by edges
	found       []foundPivot                // pivots of the current document
	sizes       []int64                     // sizes of the stars, by pivot
	group       documents.SkippedGroup      // all documents
	ofReference int64                       // documents of the reference without an equal one of the input
	compared    int64
	unchecked   int64 // pivots of the input that were not compared with all earlier ones
}

// add compares a document with the pivots and writes the edges that are worth a row. The document becomes a pivot if
// it is like none, or is of the reference. It returns the pivot that is most similar to the document, which may be the
// document itself.
func (h *hotGroup) add(d *document) (star graphs.Pivot, err error) {
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
		return graphs.NoPivot, err
	}
	isReference := d.ref < h.layout.FirstInput
	if star = graphs.NoPivot; len(h.found) > 0 {
		star = h.found[0].pivot
		h.sizes[star]++
		if !isReference {
			return star, nil
		}
	}
	if pivot := h.index.Add(d.set); pivot == graphs.NoPivot {
		isComplete = false
	} else {
		h.lead(d, h.index.Set(pivot))
		if star == graphs.NoPivot {
			star = pivot
		}
	}
	if len(h.found) == 0 && !isComplete && !isReference {
		h.unchecked++
		return star, h.layout.Mark(&h.w.Run, records.Unchecked, d.ref)
	}
	return star, nil
}

// lead makes a document the next pivot. Its set must stay.
func (h *hotGroup) lead(d *document, set []uint64) {
	pivot := graphs.Pivot(len(h.pivots))
	kept := *d
	kept.set, kept.common = set, slices.Clone(d.common)
	h.pivots = append(h.pivots, kept)
	h.outlines.add(&kept)
	h.joined = append(h.joined, pivot)
	h.sizes = append(h.sizes, 1)
}

type foundPivot struct {
	pivot graphs.Pivot
	score records.Score
}

// find finds the pivots that a document is like, the most similar ones first.
func (h *hotGroup) find(d *document, among []graphs.Pivot) {
	h.found = h.found[:0]
	own := outlineOf(d)
	size, most := -1, 0 // of the pivot before, and in how many shingles it may differ from the document
	mayBeApart := h.layout.FirstInput > 0 || d.side != 0
	distances := h.outlines.near(&own, among)
	for i, pivot := range among {
		if n := h.outlines.sizes[pivot]; n != size {
			size, most = n, h.mostDiffering(n, d.size)
		}
		if most < 0 || mayBeApart && candidates.Apart(h.pivots[pivot].class(), d.class(), h.layout.FirstInput) {
			continue
		}
		h.compared++
		if int(distances[i]) > most || h.outlines.distance(1, pivot, &own) > most {
			continue
		}
		if score, ok := h.score(&h.pivots[pivot], d); ok {
			h.found = append(h.found, foundPivot{pivot, score})
		}
	}
	slices.SortFunc(h.found, func(a, b foundPivot) int {
		return cmp.Or(cmp.Compare(b.score.Similarity(), a.score.Similarity()), cmp.Compare(a.pivot, b.pivot))
	})
}

// writeEdges writes some of the edges between a document and the pivots that were found: the first edge, the edge to
// the most similar pivot of the reference, and each edge that joins pivots that were not joined.
func (h *hotGroup) writeEdges(d *document) error {
	hasReference := false
	for i, l := range h.found {
		pivot, first := &h.pivots[l.pivot], h.found[0].pivot
		isReference := pivot.ref < h.layout.FirstInput
		if i > 0 && h.joined.Find(l.pivot) == h.joined.Find(first) && (hasReference || !isReference) {
			continue
		}
		hasReference = hasReference || isReference
		h.joined.Union(first, l.pivot)
		x, y, _ := candidates.Ends(pivot.class(), d.class(), h.layout.FirstInput)
		l.score.Total |= records.HotGroupMark
		if err := h.edges.add(pivot.of(x), d.of(y), l.score); err != nil {
			return err
		}
	}
	return nil
}

func (h *hotGroup) score(pivot, d *document) (records.Score, bool) {
	score, ok := h.Similarity.compare(pivot, d)
	return score, ok && (!h.AcceptsAll || score.Similarity() >= h.Threshold)
}

func (h *hotGroup) count() {
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
