package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// stage is what the DoFns of one stage share: its name and its metrics.
type stage struct {
	name                         StageName
	tasks, records, bytes, cpuNS beam.Counter
	span, resident               beam.Distribution
}

// newStage defines the metrics of a stage.
func newStage(name StageName) *stage {
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

// count adds the figures of a task to the metrics of the stage. Beam lets nobody do
// that but the goroutine that it has called.
func (s *stage) count(ctx context.Context, f figures) {
	s.tasks.Inc(ctx, 1)
	s.records.Inc(ctx, f.records)
	s.bytes.Inc(ctx, f.bytes)
	s.cpuNS.Inc(ctx, int64(f.cpu))
	s.span.Update(ctx, f.begun.UnixMilli())
	s.span.Update(ctx, f.ended.UnixMilli())
	s.resident.Update(ctx, f.resident)
}

// plan does the work of a step that sees the outcomes of all tasks before it, in the
// goroutine that Beam has called, and returns the step's own outcome. The tasks that it
// puts out are held back until it has ended: an element may begin other tasks, and wait
// for the slot that this one holds.
func (s *stage) plan(ctx context.Context, runs Runs, elements func(*[]byte) bool, emit func([]byte), work func(context.Context, *Planning) error) (outcome, error) {
	var next []task
	p := Planning{Runs: runs, Outcome: outcome{Stage: s.name}, Emit: func(t task) { next = append(next, t) }}
	f, err := runs.Run(ctx, s.name, 0, func(m *memory) (err error) {
		p.memory = m
		if p.Outcomes, p.Counts, err = readOutcomes(elements); err != nil {
			return err
		}
		return work(ctx, &p)
	})
	if err != nil {
		return p.Outcome, err
	}
	s.count(ctx, f)
	for _, t := range next {
		emit(t.encode())
	}
	return p.Outcome, nil
}

// planOnly is plan for a step whose own outcome nobody needs.
func (s *stage) planOnly(ctx context.Context, runs Runs, elements func(*[]byte) bool, emit func([]byte), work func(context.Context, *Planning) error) error {
	_, err := s.plan(ctx, runs, elements, emit, work)
	return err
}

// planBoth is plan for a step whose own outcome is an element, too.
func (s *stage) planBoth(ctx context.Context, runs Runs, elements func(*[]byte) bool, emit, emitOutcome func([]byte), work func(context.Context, *Planning) error) error {
	o, err := s.plan(ctx, runs, elements, emit, work)
	if err != nil {
		return err
	}
	element, err := o.encode()
	if err == nil {
		emitOutcome(element)
	}
	return err
}
