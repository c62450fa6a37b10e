package methods

import (
	"context"
	"fmt"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

// orderShard is the shard of the catalog that holds the order of shingles.
const orderShard = 0

// Ordering turns the counts into an order of the shingles, and makes the tasks of a [Keying] that make keys in this
// order.
type Ordering struct {
	Method Name
	Parameters
}

// Plan adds up the counts and makes the tasks.
func (o *Ordering) Plan(_ context.Context, p *work.Planning) error {
	if o.isSmall(p.Counts) {
		m, err := mustOf(All)
		if err != nil {
			return err
		}
		d := m.Needs()
		d.Step = allPairsStep
		return p.Deliver(d, work.RunsBut(p.Outcomes, work.Count))
	}
	m, err := mustOf(o.Method)
	if err != nil {
		return err
	}
	order, err := sumCounters(p)
	if err != nil || order == "" {
		return err
	}
	p.Runs.ReleaseStage(p.Outcomes, work.Count)
	return p.Deliver(m.Needs(), append(work.RunsBut(p.Outcomes, work.Count), order))
}

// sumCounters writes the sum of the counters of all tasks, part by part. It returns the path of the run, or "" if there
// are no counters.
func sumCounters(p *work.Planning) (string, error) {
	var runs [][]runfile.Piece
	for _, o := range p.Outcomes {
		if o.Stage != work.Count || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			return "", err
		}
		runs = append(runs, pieces)
	}
	if len(runs) == 0 {
		return "", nil
	}
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	readers := make([]runfile.Reader, len(runs))
	for i, pieces := range runs {
		defer readers[i].Close()
		if len(pieces) != len(runs[0]) {
			return "", fmt.Errorf("add up counts: one of %d parts, one of %d", len(runs[0]), len(pieces))
		}
	}
	for part := range runs[0] {
		for i, pieces := range runs {
			buffer := &p.Buffers[min(i, 1)]
			var err error
			if *buffer, err = readers[i].Read((*buffer)[:0], pieces[part]); err != nil {
				return "", err
			}
			if i > 0 {
				lshbands.AddCounts(p.Buffers[0], p.Buffers[1])
			}
		}
		if err := p.Run.Section(records.Order, orderShard, p.Buffers[0]); err != nil {
			return "", err
		}
	}
	return p.Run.Close()
}

// orders are the orders of shingles of the jobs at work in this process.
var orders work.Shared[lshbands.Counter]

// readOrder returns the order in the catalog.
func readOrder(catalog string) (*lshbands.Counter, error) {
	pieces, err := runfile.ReadCatalog(catalog, orderShard)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, piece := range pieces {
		if piece.Kind == records.Order {
			size += piece.Length
		}
	}
	order, err := lshbands.CounterOf(size)
	if err != nil {
		return nil, err
	}
	var reader runfile.Reader
	defer reader.Close()
	// ReadKind fills the memory of the counter.
	if _, err := reader.ReadKind(order.Bytes()[:0], pieces, records.Order); err != nil {
		return nil, err
	}
	return order, nil
}
