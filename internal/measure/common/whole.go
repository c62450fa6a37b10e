package common

import (
	"context"
	"fmt"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/sketch"
)

// whole reads documents whose common shingles are still in their sets, or in their sequences.
type whole struct {
	// sequences says that blocks hold sequences in place of sets.
	sequences bool
	// set has the distinct shingles of the current document, ascending, and sequence its sequence.
	set      []uint64
	sequence sketchblock.Sequence

	memory []uint64
	sorter asmkernels.SetSorter
}

// eachWhole visits the documents of a split, with what blocks hold of them.
func eachWhole(ctx context.Context, w *work.Desk, visit func(block *sketchblock.Block, i int, packed []byte) error) error {
	for i := range w.Pieces {
		switch w.Pieces[i].Kind {
		case records.WholeDocuments:
			w.Pieces[i].Kind = records.Documents
		case records.WholeSets:
			w.Pieces[i].Kind = records.Sets
		}
	}
	return w.EachSet(ctx, visit)
}

// read makes a document of a block the current one.
func (d *whole) read(w *work.Desk, block *sketchblock.Block, i int, packed []byte) (err error) {
	w.Figures.Records++
	w.Figures.Bytes += int64(len(packed))
	if !d.sequences {
		d.memory = sketchblock.AppendSet(d.memory[:0], packed)
		d.set = d.memory
		return nil
	}
	if d.sequence, err = sketchblock.ParseSequence(d.sequence, packed); err != nil {
		return fmt.Errorf("document %d: %w", block.Ref(i), err)
	}
	d.memory = append(d.memory[:0], d.sequence.Shingles...)
	d.set = d.sorter.Sort(d.memory)
	return nil
}

// appendStripped appends what is left of the sequence without common shingles, packed. It takes out all if all is true.
func (d *whole) appendStripped(packed []byte, common *sketch.Shingles, all bool) []byte {
	q := sketch.Sequence(d.sequence)
	q.LeaveOut(common, all)
	return sketchblock.AppendSequence(packed, sketchblock.Sequence(q))
}
