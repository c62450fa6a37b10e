package methods

import (
	"context"
	"fmt"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

const (
	// bytesPerCounter is the bytes of sets that one task of a cluster counts. A counter takes some megabytes to write,
	// so there should be few.
	bytesPerCounter = 1 << 30

	// counterPart is the bytes of a counter that are written at a time.
	counterPart = 1 << 20
)

// CountPlanning makes the tasks that count the documents that contain each shingle, for Ordered methods. The number of
// tasks changes no result, as sums of counts do not depend on the order.
type CountPlanning struct {
	// Lanes is the least number of tasks, if there are as many splits.
	Lanes int
	Parameters
}

// Plan makes the tasks, unless all pairs of the corpus are compared.
func (c *CountPlanning) Plan(_ context.Context, p *work.Planning) error {
	if c.isSmall(p.Counts) {
		return nil
	}
	shingles := int64(0)
	for _, o := range p.Outcomes {
		shingles += o.Shingles
	}
	tasks := max(c.Lanes, int(shingles*sketchblock.HashSize/bytesPerCounter))
	catalog, splits, err := runfile.WriteCatalog(string(p.Runs.Folder), work.RunsOf(p.Outcomes), []runfile.Kind{records.Documents}, []runfile.Kind{records.Sets})
	if err != nil {
		return fmt.Errorf("make tasks of counting: %w", err)
	}
	for number := range min(tasks, len(splits)) {
		p.Emit(work.Task{
			Number: number, Shards: min(tasks, len(splits)),
			Documents: p.Counts.Documents, Shingles: shingles, Catalog: catalog,
		})
	}
	return nil
}

// Counting counts the shingles of some splits.
type Counting struct {
	// Splits is the number of splits of the inputs.
	Splits int
}

// Task counts the shingles of every n-th split, from the task's number on, where n is the number of tasks. It writes
// the counter.
func (c *Counting) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	counter := lshbands.NewCounter(t.Shingles)
	for split := t.Number; split < c.Splits; split += t.Shards {
		if err := countSplit(ctx, t.Catalog, split, w, counter); err != nil {
			return err
		}
	}
	packed := counter.Bytes()
	for part := 0; len(packed) > 0; part++ {
		n := min(counterPart, len(packed))
		if err := w.Run.Section(records.Counter, part, packed[:n]); err != nil {
			return err
		}
		packed = packed[n:]
	}
	return nil
}

// countSplit counts the shingles of one split.
func countSplit(ctx context.Context, catalog string, split int, w *work.Desk, counter *lshbands.Counter) (err error) {
	if w.Pieces, err = runfile.ReadCatalog(catalog, split); err != nil {
		return err
	}
	for _, piece := range w.Pieces {
		if piece.Kind != records.Sets {
			continue
		}
		sets, err := w.ReadPiece(1, piece)
		if err != nil {
			return err
		}
		w.Figures.Bytes += int64(len(sets))
		w.Figures.Records += int64(len(sets) / sketchblock.HashSize)
		// The ends of sets do not matter here.
		w.Hashes = sketchblock.AppendSet(w.Hashes[:0], sets)
		counter.Add(w.Hashes)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
