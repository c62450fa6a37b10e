package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/work"
)

// stage holds what the DoFns of one stage share: its name and its metrics.
type stage struct {
	name                         work.Stage
	tasks, records, bytes, cpuNS beam.Counter
	span, resident               beam.Distribution
}

// newStage defines the metrics of a stage.
func newStage(name work.Stage) *stage {
	return &stage{
		name:    name,
		tasks:   beam.NewCounter(string(name), "tasks"),
		records: beam.NewCounter(string(name), "records"),
		bytes:   beam.NewCounter(string(name), "bytes"),
		cpuNS:   beam.NewCounter(string(name), "cpu_ns"),
		span:    beam.NewDistribution(string(name), "unix_ms"),

		resident: beam.NewDistribution(string(name), "resident_bytes"),
	}
}

// count adds the figures of a task to the metrics of the stage. Beam allows this only in the goroutine that it has
// called.
func (s *stage) count(ctx context.Context, f work.Figures) {
	s.tasks.Inc(ctx, 1)
	s.records.Inc(ctx, f.Records)
	s.bytes.Inc(ctx, f.Bytes)
	s.cpuNS.Inc(ctx, int64(f.CPU))
	s.span.Update(ctx, f.Begun.UnixMilli())
	s.span.Update(ctx, f.Ended.UnixMilli())
	s.resident.Update(ctx, f.Resident)
}

// planner holds what is common to DoFns of steps that see the outcomes of all earlier tasks.
type planner struct {
	// Runs says where the step writes.
	Runs work.Runs
}

// plan does the work of a step, in the goroutine that Beam has called, and returns the step's own outcome. It holds
// back the tasks that the step emits until the step has ended: an element may begin other tasks, and wait for the slot
// that this step holds.
func (f *planner) plan(ctx context.Context, s *stage, elements func(*[]byte) bool, emit func([]byte), do func(context.Context, *work.Planning) error) (work.Outcome, error) {
	var next []work.Task
	p := work.Planning{Runs: f.Runs, Outcome: work.Outcome{Stage: s.name}, Emit: func(t work.Task) { next = append(next, t) }}
	figures, err := f.Runs.Run(ctx, s.name, 0, func(m *work.Memory) (err error) {
		p.Memory = m
		if p.Outcomes, p.Counts, err = work.ReadOutcomes(elements); err != nil {
			return err
		}
		return do(ctx, &p)
	})
	if err != nil {
		return p.Outcome, err
	}
	s.count(ctx, figures)
	for _, t := range next {
		emit(t.Encode())
	}
	return p.Outcome, nil
}
