// Package scoring compares documents whose sets have come to one bucket, and writes an edge for each similar pair.
//
// Pairs come from four sources:
//
//	the candidate pairs of a place          [Sets]
//	all pairs of blocks of documents        [Sets]
//	candidate pairs whose passages count    [Passages]
//	the documents of hot groups with pivots     [HotGroups]
//
// In a hot group each document is compared with a few pivots only. The edges of a task are one part of the similarity
// graph.
package scoring

import (
	"context"
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Delivery makes a task of [Sets], or of [Passages], for each place that has pairs or is a block.
func Delivery() work.Delivery {
	return work.Delivery{
		Needed: []runfile.Kind{records.PlacePairs, records.Blocks},
		Extra:  []runfile.Kind{records.PlaceSets},
	}
}

// Sets scores the candidate pairs of a place, or all pairs of a block with itself and with the blocks before it.
type Sets struct {
	Inputs work.Path
	Similarity
	// FirstPart is the lowest part of the similarity graph that scoring makes. Lower numbers belong to other stages.
	FirstPart int
	// PairBytes is about how many bytes the pairs of a place may take. More are scored in several rounds.
	PairBytes int64
	// HasPairs is as in [methods.Parameters].
	HasPairs bool

	layout documents.Layout
	reused documents.Unchanged // files whose pairs with each other are not compared
}

func (s *Sets) Setup() error {
	err := s.layout.Read(string(s.Inputs))
	if err == nil && s.HasPairs {
		s.reused = s.layout.Inputs.Unchanged()
	}
	return err
}

// Task scores a place or a block. It fails if a set that it needs is missing.
func (s *Sets) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	edges := &edgeWriter{run: &w.Run, number: setsPart(s.FirstPart, graphs.Place(t.Number))}
	var err error
	if w.Has(records.Blocks) {
		err = s.block(ctx, t, w, edges)
	} else {
		err = s.place(ctx, w, edges)
	}
	if err != nil {
		return err
	}
	w.Figures.Records += w.Outcome.Counts.Candidates
	return edges.finish()
}

func (s *Sets) place(ctx context.Context, w *work.TaskContext, edges *edgeWriter) error {
	g, err := readSets(w, &w.Hashes)
	if err != nil {
		return err
	}
	const pairBytes = 2 * 8 // with the memory to sort them
	total := int(runfile.SizeOf(w.Pieces, records.PlacePairs) / records.PairSize)
	hasBitmaps := s.Smallest == 0 && total >= manyPairs*len(g.documents)
	var bitmaps []uint64
	return visitPairs(w, g, int(s.PairBytes/pairBytes), func(pairs []uint64) error {
		w.Outcome.Counts.Candidates += int64(len(pairs))
		if hasBitmaps {
			bitmaps = g.appendBitmaps(bitmaps)
		}
		for i, pair := range pairs {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x, y := unpackPair(pair)
			a, b := g.named[x], g.named[y]
			if hasBitmaps && differing(bitmapAt(bitmaps, x), bitmapAt(bitmaps, y)) > s.mostDiffering(a.size, b.size) {
				continue
			}
			w.Figures.Compared++
			score, ok := s.compare(a, b)
			if !ok {
				continue
			}
			if err := edges.add(a, b, score); err != nil {
				return err
			}
		}
		return nil
	})
}

// manyPairs is the number of pairs for each document of a place that makes up for bitmaps of all sets.
const manyPairs = 64

// appendBitmaps appends the bitmaps of the documents that have been named since the last call.
func (g *gathered) appendBitmaps(bitmaps []uint64) []uint64 {
	for n := len(bitmaps) / outlineWords; n < len(g.named); n++ {
		bitmaps = append(bitmaps, make([]uint64, outlineWords)...)
		candidates.Flip(bitmaps[n*outlineWords:], g.named[n].set, 0)
	}
	return bitmaps
}

func bitmapAt[N ~uint32](bitmaps []uint64, n N) *[outlineWords]uint64 {
	return (*[outlineWords]uint64)(bitmaps[int(n)*outlineWords:])
}

func differing(a, b *[outlineWords]uint64) (bitCount int) {
	for i := range a {
		bitCount += bits.OnesCount64(a[i] ^ b[i])
	}
	return bitCount
}

func packPair(x, y number) uint64 { return uint64(x)<<32 | uint64(y) }

func unpackPair(word uint64) (x, y number) { return number(word >> 32), number(word) }

// visitPairs visits the pairs of the task in order, each once, as packPair packs them. Mostly atATime pairs or fewer
// are held at a time. A dense component has many times the pairs that the size of its sets suggests.
func visitPairs(w *work.TaskContext, g *gathered, atATime int, visit func([]uint64) error) error {
	total, parts := int(runfile.SizeOf(w.Pieces, records.PlacePairs)/records.PairSize), 1
	if total > atATime {
		// If all documents are pairs, the first documents have twice the average.
		parts = 2*total/max(atATime, 1) + 1
	}
	w.Pairs = slices.Grow(w.Pairs[:0], 2*min(total, atATime))
	for part := range parts {
		first, end := len(g.documents)*part/parts, len(g.documents)*(part+1)/parts
		pairs, err := readPairs(w, g, number(first), number(end))
		if err != nil {
			return err
		}
		if err := visit(pairs); err != nil {
			return err
		}
	}
	return nil
}

// readPairs returns the pairs whose first document is from first to before end, each once, whatever keys it shares.
func readPairs(w *work.TaskContext, g *gathered, first, end number) ([]uint64, error) {
	pairs := w.Pairs[:0]
	for piece := range records.PlacePairs.Of(w.Pieces) {
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return nil, err
		}
		for pair := range records.Each[records.Pair](packed) {
			x, err := g.findFirst(pair.A)
			if err != nil {
				return nil, err
			}
			if x < first || x >= end {
				continue
			}
			y, err := g.find(pair.B)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, packPair(x, y))
		}
	}
	w.Pairs = pairs
	return sortPairs(pairs, len(g.documents)), nil
}

// sortPairs sorts pairs of documents, given their number, and leaves out repeats. It uses as much memory behind them.
func sortPairs(pairs []uint64, documents int) []uint64 {
	width, n := bits.Len(uint(documents)), len(pairs)
	pairs = slices.Grow(pairs, n)[:2*n]
	return slices.Compact(graphs.RadixSort(pairs[:n], pairs[n:], func(pair *uint64) uint64 {
		x, y := unpackPair(*pair)
		return uint64(x)<<width | uint64(y)
	}))
}

type edgeWriter struct {
	run    *runfile.Writer
	number int // number of the part
	part   graphs.Part
}

// setsPart and hotGroupPart return the number of the part that a task of a place makes. Of three numbers from first on,
// sets have one and hotGroups the next one. The third is for stars of very many equal documents (package groups).
func setsPart(first int, place graphs.Place) int { return first + 3*int(place) }

func hotGroupPart(first int, place graphs.Place) int { return first + 3*int(place) + 1 }

func (w *edgeWriter) add(a, b *document, score records.Score) error {
	e := records.Edge[graphs.Node]{A: w.node(a), B: w.node(b), Score: score}
	w.part.Parents.Union(e.A, e.B)
	return records.WriteEdge(w.run, records.Edges, w.number, e)
}

func (w *edgeWriter) node(d *document) graphs.Node {
	if !d.hasNode {
		d.node, d.hasNode = w.part.Add(d.ref, uint32(d.size)), true
	}
	return d.node
}

func (w *edgeWriter) finish() error {
	return records.WritePart(w.run, records.EdgeNodes, w.number, w.part)
}

// Similarity says when two sets are alike.
type Similarity struct {
	// Threshold is the least Jaccard similarity of two sets that are alike, from 0 to 1.
	Threshold float64
	// Smallest, if not 0, is how many of the smallest hashes of each set come. The similarity is then an estimate.
	Smallest int
	// AcceptsAll makes every candidate pair an edge, whatever its similarity, where that is an estimate.
	AcceptsAll bool
}

// compare returns the score of two documents, and whether an edge joins them.
func (s *Similarity) compare(a, b *document) (records.Score, bool) {
	if s.Smallest == 0 {
		need := asmkernels.Required(s.Threshold, a.size, b.size)
		shared := asmkernels.Intersect(a.set, b.set, need)
		score := records.NewScore(shared, a.size+b.size-shared, false)
		if shared < need || len(a.common)+len(b.common) == 0 {
			return score, shared >= need
		}
		shared += asmkernels.Intersect(a.common, b.common, 0)
		score.WholeShared, score.WholeTotal = uint32(shared), uint32(a.size+len(a.common)+b.size+len(b.common)-shared)
		return score, true
	}
	shared, union, exact := sketch.Overlap(a.set, b.set, a.size, b.size, s.Smallest)
	return records.NewScore(shared, union, !exact), s.AcceptsAll || float64(shared)/float64(union) >= s.Threshold
}

// sizesAllow reports whether two sets of these sizes reach the threshold if the larger one contains the smaller.
func (s *Similarity) sizesAllow(smaller, larger int) bool {
	return smaller == larger || float64(smaller)/float64(larger) >= s.Threshold
}
