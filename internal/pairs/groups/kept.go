package groups

import (
	"context"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Kept writes the pairs with passages in common that the last run has found, unless both documents have keys in this run: then they meet.
// All keys that the documents of another pair share are the ones of last night's documents, and of no others. So they meet tonight as they did
// then.
type Kept struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Pairs is the path of the run file with the pairs.
	Pairs work.Path
	// Shards is the number of shards over which keys are spread.
	Shards int

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (k *Kept) Setup() error { return k.layout.Read(string(k.Inputs)) }

// Task writes the edges and the spans, as a part of the similarity graph behind the parts of all shards and crowds.
func (k *Kept) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Known)
	if err != nil {
		return err
	}
	var known graphs.Numbering[uint32]
	var sizes []uint32 // of known documents, and the mark of one that has keys
	const isKeyed = 1 << 31
	for d := range records.All[records.KnownDocument](packed) {
		if d.Keyed {
			d.Size |= isKeyed
		}
		known.Add(uint64(d.Ref))
		sizes = append(sizes, d.Size)
	}
	edges := NewEdges(w, 2*k.Shards)
	err = EachKept(ctx, string(k.Pairs), &k.layout.Inputs.Past, w.Memory, func(pair *records.KeptPair) error {
		a, hasA := known.Find(uint64(pair.A))
		b, hasB := known.Find(uint64(pair.B))
		if !hasA || !hasB || sizes[a]&sizes[b]&isKeyed != 0 {
			return nil
		}
		return edges.addKept(pair, sizes[a]&^isKeyed, sizes[b]&^isKeyed)
	})
	if err != nil {
		return err
	}
	return edges.Finish()
}

// EachKept visits the pairs of the last run, in a run file, whose documents are still there. They have the names that these have now.
func EachKept(ctx context.Context, path string, past *documents.Past, m *work.Memory, visit func(*records.KeptPair) error) error {
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	for _, piece := range pieces {
		if piece.Kind != records.KeptPairs {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		packed, err := reader.Read(m.Buffers[1][:0], piece)
		if m.Buffers[1] = packed; err != nil {
			return err
		}
		for pair := range records.All[records.KeptPair](packed) {
			var hasA, hasB bool
			if pair.A, hasA = past.Now(pair.A); hasA {
				pair.B, hasB = past.Now(pair.B)
			}
			if !hasB {
				continue
			}
			if err := visit(&pair); err != nil {
				return err
			}
		}
	}
	return nil
}

// addKept writes the edge of a pair of the last run and its spans, given the sizes of its documents.
func (w *Edges) addKept(p *records.KeptPair, sizeA, sizeB uint32) error {
	a, b := candidates.Record{Ref: p.A, Size: sizeA}, candidates.Record{Ref: p.B, Size: sizeB}
	if err := w.Add(&a, &b, p.Score); err != nil {
		return err
	}
	x, y := w.node(&a), w.node(&b)
	for _, span := range p.Spans {
		record, err := w.run.Record(records.Spans, w.shard, records.SpanSize)
		if err != nil {
			return err
		}
		records.PutSpan(record, records.Span[graphs.Node]{A: x, B: y, Span: span, More: p.More})
	}
	return nil
}
