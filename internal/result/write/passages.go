package write

import (
	"context"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Passages writes the rows of the passages that were cut, in document order. An output shard takes the documents of
// some splits.
type Passages struct {
	Files
	// Splits is the number of splits of the input.
	Splits int
}

// PassagesDelivery makes a task of [Passages] for each output shard. The outcomes of the stage that clusters only add
// to the counts.
func PassagesDelivery() work.Delivery {
	return work.Delivery{Output: true, Extra: []runfile.Kind{records.TrimRows}, OnlyCounted: []work.Stage{work.Cluster}}
}

// Task writes the file of one output shard.
func (p *Passages) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	file := p.Name(output.Passages, t.Number, t.Shards)
	return Write(p.Files, file, p.Names(t), w, func(row func(output.Cut) error) error {
		return eachSplit(t, p.Splits, w.Memory, func(split *work.TaskContext) error {
			return copyRows(split, records.TrimRows, output.Passages, row)
		})
	})
}
