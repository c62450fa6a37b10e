package transforms

import (
	"context"
	"math"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// Where all pairs are compared there are no candidates to gather. The all,
// ordered by size, are cut into blocks; each set is sent once, to its block; and
// the task of a block compares it with itself and with the blocks of smaller
// documents before it, as far as their sizes allow the threshold.

// comparesAll reports whether all pairs of a corpus are compared.
func (j *Job) comparesAll(counts work.Counts) bool {
	return j.Keys == methods.All || counts.Documents+counts.ReferenceDocuments <= j.AllPairsUpTo
}

// digests writes a record for each document of a split that brings it together with
// equal ones only.
func (f *keyFn) digests(ctx context.Context, w *work.Place) error {
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		w.Figures.Records += int64(block.Len())
		for i := range block.Len() {
			record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
			if err := writeDigestAs(records.Digests, &w.Run, f.Job, record); err != nil {
				return err
			}
			if err := writeID(&w.Run, f.Job, block, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// equals writes the stars of equal documents of a shard, and its distinct documents.
func (f *groupFn) equals(shard int, w *work.Place) error {
	keys, err := sortKeys(w, records.Digests, shard, f.Job.Shards, nil)
	if err != nil {
		return err
	}
	if err := f.writeDistinct(&w.Run, shard, keys); err != nil {
		return err
	}
	var failed error
	var stars starWriter
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64, FirstInput: f.FirstInput,
		Candidate: func(_, _ *candidates.Record) {},
		Identical: func(first, other *candidates.Record) {
			if err := stars.add(&w.Run, shard, first, other); err != nil {
				failed = err
			}
		},
	}
	g.Groups(keys)
	if failed != nil {
		return failed
	}
	return records.WritePart(&w.Run, records.EdgeNodes, shard, stars.part)
}

// writeDistinct writes the first of the documents under each key as a node: every
// one of them is compared with every other. Where that is of the reference, the first
// equal one of the input, if there is one, is a node joined to it.
func (f *groupFn) writeDistinct(run *runfile.Writer, shard int, keys []candidates.Record) error {
	n, first := uint32(0), uint32(0)
	for i, r := range keys {
		isEqual := i > 0 && keys[i-1].Digest == r.Digest
		if !isEqual {
			first = n
		}
		if r.Size == 0 || isEqual && (keys[i-1].Ref >= f.FirstInput || r.Ref < f.FirstInput) {
			continue
		}
		if err := records.WriteNode(run, records.Distinct, shard, r.Ref, r.Size, first); err != nil {
			return err
		}
		n++
	}
	return nil
}
