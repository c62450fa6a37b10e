package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&countPlanFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&countFn{})
}

// Count counts in how many documents each shingle occurs, since exact keys are the
// rarest shingles of a document: PCollection<[]byte> of fingerprint outcomes to
// one of outcomes with counters. It is only there for exact keys.
func Count(s beam.Scope, job Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("count")
	tasks := beam.ParDo(s, &countPlanFn{Job: job, planner: planner{job.runs()}}, together(s, sketches))
	return sideBySide(s, &countFn{Job: job, bundle: newBundle(job)}, tasks)
}

var countStage = newStage(work.Count)

// bytesPerCounter is how much of the sets a task of a cluster counts: a counter
// takes some megabytes to write, so they are few.
const bytesPerCounter = 1 << 30

// counterPart is how much of a counter is written at a time.
const counterPart = 1 << 20

// countPlanFn makes the tasks that count. How many there are changes no result, as
// sums of counts do not depend on the order.
type countPlanFn struct {
	Job Job

	planner
}

func (f *countPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, countStage, elements, emit, f.Plan)
	return err
}

// Plan makes the tasks, unless all pairs of the corpus are compared.
func (f *countPlanFn) Plan(_ context.Context, p *work.Planning) error {
	if f.Job.comparesAll(p.Counts) {
		return nil
	}
	shingles := int64(0)
	for _, o := range p.Outcomes {
		shingles += o.Shingles
	}
	tasks := max(f.Job.Lanes, int(shingles*sketchblock.HashSize/bytesPerCounter))
	catalog, splits, err := runfile.WriteCatalog(f.Job.Temp, work.RunsOf(p.Outcomes), []runfile.Kind{records.Documents}, []runfile.Kind{records.Sets})
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

// countFn counts the shingles of some splits.
type countFn struct {
	Job Job

	bundle
}

func (f *countFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, countStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		counter := lshbands.NewCounter(t.Shingles)
		for split := t.Number; split < f.Job.Splits; split += t.Shards {
			if err := f.split(ctx, t.Catalog, split, w, counter); err != nil {
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
	})
}

// split counts the shingles of one split.
func (f *countFn) split(ctx context.Context, catalog string, split int, w *work.Place, counter *lshbands.Counter) (err error) {
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
		// Where one set ends and the next begins does not matter here.
		w.Hashes = sketchblock.AppendSet(w.Hashes[:0], sets)
		counter.Add(w.Hashes)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// sumCounters writes the sum of the counters of all tasks, part by part, and
// returns the path of the run, "" if there are none.
func sumCounters(outcomes []work.Outcome, temp string, m *work.Memory) (string, error) {
	var runs [][]runfile.Piece
	for _, o := range outcomes {
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
	m.Run.Reset(temp, 0)
	defer m.Run.Abort()
	readers := make([]runfile.Reader, len(runs))
	for i, pieces := range runs {
		defer readers[i].Close()
		if len(pieces) != len(runs[0]) {
			return "", fmt.Errorf("add up counts: one of %d parts, one of %d", len(runs[0]), len(pieces))
		}
	}
	for part := range runs[0] {
		for i, pieces := range runs {
			buffer := &m.Buffers[min(i, 1)]
			var err error
			if *buffer, err = readers[i].Read((*buffer)[:0], pieces[part]); err != nil {
				return "", err
			}
			if i > 0 {
				lshbands.AddCounts(m.Buffers[0], m.Buffers[1])
			}
		}
		if err := m.Run.Section(records.Order, orderShard, m.Buffers[0]); err != nil {
			return "", err
		}
	}
	return m.Run.Close()
}
