package boilerplate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/write"
)

// ranking holds the first mostRows of the rows that were added: the most frequent passages, then the longest, then those that
// come first.
type ranking []output.Passage

func (r *ranking) add(row output.Passage) {
	if *r = append(*r, row); len(*r) >= 2*mostRows {
		*r = r.best()
	}
}

// best returns the rows in their order.
func (r ranking) best() []output.Passage {
	slices.SortStableFunc(r, func(a, b output.Passage) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(b.Tokens, a.Tokens))
	})
	return r[:min(len(r), mostRows)]
}

// Writing writes the rows.
type Writing struct {
	write.Files
}

// WritingDelivery makes the one task of [Writing].
func WritingDelivery() work.Delivery {
	return work.Delivery{Shards: 1, Extra: []runfile.Kind{records.Passages}}
}

// Task writes the one file.
func (o *Writing) Task(_ context.Context, _ work.Task, w *work.Desk) error {
	var rows ranking
	for _, piece := range w.Pieces {
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(packed) {
			var row output.Passage
			if err := json.Unmarshal(line, &row); err != nil {
				return fmt.Errorf("passages in %s: %w", piece.Path, err)
			}
			rows.add(row)
		}
	}
	return write.Write(o.Files, o.Name(output.Boilerplate, 0, 1), w, func(row func(output.Passage) error) error {
		for _, passage := range rows.best() {
			if err := row(passage); err != nil {
				return err
			}
		}
		return nil
	})
}
