package write

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Passages writes the rows of the passages that were cut, in document order. An output shard takes the documents of some splits.
type Passages struct {
	Files
	// Splits is the number of splits of the input.
	Splits int
}

// PassagesDelivery makes a task of [Passages] for each output shard. The outcomes of the stage that clusters only add to the counts.
func PassagesDelivery() work.Delivery {
	return work.Delivery{Output: true, Extra: []runfile.Kind{records.TrimRows}, OnlyCounted: []work.Stage{work.Cluster}}
}

// Task writes the file of one output shard.
func (p *Passages) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	return Write(p.Files, p.Name(output.Passages, t.Number, t.Shards), p.Names(t), w, func(row func(output.Cut) error) error {
		first, end := splitsOf(t, p.Splits)
		return eachSplit(t.Catalog, first, end, w.Memory, func(split *work.TaskContext) error {
			for _, piece := range split.Pieces {
				if piece.Kind != records.TrimRows {
					continue
				}
				packed, err := split.ReadPiece(0, piece)
				if err != nil {
					return err
				}
				for line := range bytes.Lines(packed) {
					var cut output.Cut
					if err := json.Unmarshal(line, &cut); err != nil {
						return fmt.Errorf("passages in %s: %w", piece.Path, err)
					}
					if err := row(cut); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}
