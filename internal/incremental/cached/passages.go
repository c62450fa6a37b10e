package cached

import (
	"context"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Passages writes the pairs with passages in common that the last run has found, unless both documents have keys in
// this run. All documents of the last run that share a key with one of these two have keys, too, so such a pair meets
// in this run as it did in the last one.
type Passages struct {
	Inputs work.Path
	// Pairs is the path of the run file with the pairs.
	Pairs  work.Path
	Shards int

	layout documents.Layout // read in Setup
}

func (k *Passages) Setup() error { return k.layout.Read(string(k.Inputs)) }

// Task writes the edges and spans, as a part of the similarity graph behind the parts of shards and oversized groups.
func (k *Passages) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Known)
	if err != nil {
		return err
	}
	var known graphs.Numbering[uint32]
	var sizes []uint32 // of known documents, and the mark of one that has keys
	const isKeyed = 1 << 31
	for d := range records.Each[records.KnownDocument](packed) {
		if d.Keyed {
			d.Size |= isKeyed
		}
		known.Add(uint64(d.Ref))
		sizes = append(sizes, d.Size)
	}
	edges := groups.NewEdges(w, 2*k.Shards)
	err = EachPassages(ctx, string(k.Pairs), &k.layout.Inputs.Past, w.Memory, func(pair *records.KeptPair) error {
		a, hasA := known.Find(uint64(pair.A))
		b, hasB := known.Find(uint64(pair.B))
		if !hasA || !hasB || sizes[a]&sizes[b]&isKeyed != 0 {
			return nil
		}
		of, with := candidates.Record{Ref: pair.A, Size: sizes[a] &^ isKeyed}, candidates.Record{
			Ref:  pair.B,
			Size: sizes[b] &^ isKeyed,
		}
		return edges.AddSpans(&of, &with, pair)
	})
	if err != nil {
		return err
	}
	return edges.Finish()
}

// EachPassages visits the pairs of the last run whose documents are still there, by their present names.
func EachPassages(ctx context.Context, path string, past *documents.Past, m *work.Memory,
	visit func(*records.KeptPair) error,
) error {
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	for piece := range records.KeptPairs.Of(pieces) {
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
