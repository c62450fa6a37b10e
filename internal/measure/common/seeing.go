package common

import (
	"context"
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/measure/fingerprints"
	"mirrorbeam/sketch"
)

// The rounds of [Seeing].
const (
	// FirstRound sees all shingles.
	FirstRound = iota
	// SecondRound sees the frequent shingles of the documents that have enough of their own.
	SecondRound
)

// WholeDelivery makes a task for each split that has documents. Their sets are whole: they are marked as such if they are to
// be stripped.
func WholeDelivery(step int, isMarked bool) work.Delivery {
	if isMarked {
		return work.Delivery{Step: step, Needed: []runfile.Kind{records.WholeDocuments}, Extra: []runfile.Kind{records.WholeSets}}
	}
	return work.Delivery{Step: step, Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets}}
}

// Seeing writes which shingles the documents of a split have, by ranges of hashes.
type Seeing struct {
	// Shards is the number of ranges. It changes no result.
	Shards int
	// Fingerprints is their kind.
	Fingerprints fingerprints.Name
}

// Task goes through one split.
func (s *Seeing) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	var frequent *sketch.Shingles
	if t.Step == SecondRound {
		list, err := ReadList(t.Catalog)
		if err != nil {
			return err
		}
		w.Hold(list)
		frequent = list.Shingles
	}
	known := documents.Repeats{}
	d, err := newWhole(s.Fingerprints)
	if err != nil {
		return err
	}
	return eachWhole(ctx, w, func(block *sketchblock.Block, i int, packed []byte) error {
		// A repeat changes no count. To leave it out here saves the work.
		if digest := block.Digest(i); known.Has(block.Ref(i), digest, 0) {
			return nil
		}
		if err := d.open(w, block, i, packed); err != nil {
			return err
		}
		seen := d.set
		if frequent != nil {
			all := len(seen)
			if seen = appendShared(w.Pairs[:0], frequent, seen); !stands(all-len(seen), all) {
				seen = seen[:0]
			}
			w.Pairs = seen[:0]
		}
		return records.WriteSeen(&w.Run, s.Shards, block.Digest(i)[0], seen)
	})
}

// appendShared appends to shared the shingles of a set that are among others.
func appendShared(shared []uint64, others *sketch.Shingles, set []uint64) []uint64 {
	for _, hash := range set {
		if others.Has(hash) {
			shared = append(shared, hash)
		}
	}
	return shared
}

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
