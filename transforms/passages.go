package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

// mostSpans is how many spans of a pair are listed, the longest.
const mostSpans = 16

// gatheredTexts are the documents of a place, as sequences.
type gatheredTexts struct {
	nodes   []gatheredSet
	indexed []*sketch.IndexedSequence
	numbers numbering.Set // of their refs
}

// readTexts reads the sequences of a place.
func readTexts(ctx context.Context, w *work.Place) (*gatheredTexts, error) {
	g := &gatheredTexts{}
	for _, piece := range w.Pieces {
		if piece.Kind != records.PlaceSets {
			continue
		}
		buffer, err := w.ReadPiece(0, piece)
		if err != nil {
			return nil, err
		}
		w.Figures.Bytes += int64(len(buffer))
		for b := buffer; len(b) > 0; {
			end := records.SetHeader + sketchblock.HashSize*int(binary.LittleEndian.Uint32(b[12:]))
			sequence, err := sketchblock.ParseSequence(sketchblock.Sequence{}, b[records.SetHeader:end])
			if err != nil {
				return nil, err
			}
			indexed := sketch.NewIndexedSequence(sketch.Sequence(sequence))
			g.numbers.Add(uint64(records.GetRef(b)))
			g.nodes = append(g.nodes, gatheredSet{ref: records.GetRef(b), size: indexed.Distinct()})
			g.indexed = append(g.indexed, indexed)
			b = b[end:]
		}
	}
	return g, nil
}

// passages finds what the pairs of a place have in common.
func (f *scoreFn) passages(ctx context.Context, number int, w *work.Place) error {
	texts, err := readTexts(ctx, w)
	if err != nil {
		return err
	}
	pairs, err := readPlacePairs(w)
	if err != nil {
		return err
	}
	// As for sets, parts are numbered behind those of identical documents.
	graph := f.part(number)
	matcher := sketch.NewMatcher(f.Job.Measure.Shingle)
	w.Outcome.Counts.Candidates += int64(len(pairs))
	for _, pair := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, hasA := texts.numbers.Find(uint64(pair[0]))
		b, hasB := texts.numbers.Find(uint64(pair[1]))
		if !hasA || !hasB {
			return fmt.Errorf("the sequence of document %d or %d is missing", pair[0], pair[1])
		}
		shared := matcher.Compare(texts.indexed[a], texts.indexed[b])
		alike := shared > 0 && float64(shared)/float64(min(texts.nodes[a].size, texts.nodes[b].size)) >= f.Job.Threshold
		if !alike && (f.Job.Excerpt == 0 || !matcher.MayReach(f.Job.Excerpt)) {
			continue
		}
		spans := matcher.Spans()
		if !alike && int(spans[0].Words) < f.Job.Excerpt {
			continue
		}
		if err := f.tell(&graph, w, &texts.nodes[a], &texts.nodes[b], shared, spans); err != nil {
			return err
		}
	}
	w.Figures.Records += int64(len(pairs))
	return records.WritePart(&w.Run, records.EdgeNodes, graph.number, graph.part)
}

// readPlacePairs returns the pairs of a place in order, each once: two documents
// may have met under several keys.
func readPlacePairs(w *work.Place) ([][2]docref.Ref, error) {
	packed, err := w.Read(0, records.PlacePairs)
	if err != nil {
		return nil, err
	}
	pairs := make([][2]docref.Ref, 0, len(packed)/(2*records.RefSize))
	for ; len(packed) > 0; packed = packed[2*records.RefSize:] {
		a, b := records.GetRef(packed), records.GetRef(packed[records.RefSize:])
		pairs = append(pairs, [2]docref.Ref{min(a, b), max(a, b)})
	}
	slices.SortFunc(pairs, func(x, y [2]docref.Ref) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	return slices.Compact(pairs), nil
}

// tell writes the edge of a pair, and its longest spans.
func (f *scoreFn) tell(graph *edgeWriter, w *work.Place, a, b *gatheredSet, shared int, spans []sketch.Span) error {
	if err := graph.add(&w.Run, a, b, records.NewEdge(shared, a.size+b.size-shared, false)); err != nil {
		return err
	}
	told := min(len(spans), mostSpans)
	for _, s := range spans[:told] {
		record, err := w.Run.Record(records.Spans, graph.number, records.SpanSize)
		if err != nil {
			return err
		}
		records.PutSpan(record, records.Span{A: a.node - 1, B: b.node - 1, Span: s, More: uint32(len(spans) - told)})
	}
	return nil
}
