package common

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/fingerprints"
)

// whole reads documents whose common shingles are still in them.
type whole struct {
	fingerprints.Reader
	content fingerprints.Content
	// set has the distinct shingles of the current document, ascending.
	set []uint64
}

// newWhole returns a reader of fingerprints of a kind.
func newWhole(name fingerprints.Name) (whole, error) {
	kind, err := fingerprints.Of(name)
	if err == nil && kind.Block == nil {
		err = fmt.Errorf("fingerprints %s have no shingles", name)
	}
	if err != nil {
		return whole{}, err
	}
	return whole{Reader: kind.Block()}, nil
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

// open makes a document of a block the current one.
func (d *whole) open(w *work.Desk, block *sketchblock.Block, i int, packed []byte) (err error) {
	w.Figures.Records++
	w.Figures.Bytes += int64(len(packed))
	if err = d.Read(&d.content, packed); err != nil {
		return fmt.Errorf("document %d: %w", block.Ref(i), err)
	}
	d.set = d.Shingles(&d.content)
	return nil
}
