package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
)

// stage holds what the DoFns of one stage share: its name and its metrics.
type stage struct {
	name                         work.Stage
	tasks, records, bytes, cpuNS beam.Counter
	pieces, read, written        beam.Counter
	recalled                     beam.Counter // tasks that an earlier run had done
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

		pieces:  beam.NewCounter(string(name), "pieces"),
		read:    beam.NewCounter(string(name), "read_bytes"),
		written: beam.NewCounter(string(name), "written_bytes"),

		recalled: beam.NewCounter(string(name), "recalled"),
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
	s.pieces.Inc(ctx, f.Pieces)
	s.read.Inc(ctx, f.Read)
	s.written.Inc(ctx, f.Written)
	s.span.Update(ctx, f.Begun.UnixMilli())
	s.span.Update(ctx, f.Ended.UnixMilli())
	s.resident.Update(ctx, f.Resident)
}

// expect notes that a stage will have so many more tasks: for those who watch this process, and for those who ask the
// runner for its metrics.
func expect(ctx context.Context, runs work.Runs, name work.Stage, tasks int) {
	runs.Expect(name, tasks)
	if name != "" && tasks > 0 {
		beam.NewCounter(string(name), "expected").Inc(ctx, int64(tasks))
	}
}

// planner holds what is common to DoFns of steps that see the outcomes of all earlier tasks.
type planner struct {
	// Runs says where the step writes.
	Runs work.Runs
	// Name tells the step from all others of the job.
	Name string
}

// plan does the work of a step, in the goroutine that Beam has called, and returns the step's own outcome. It holds
// back the tasks that the step emits until the step has ended: an element may begin other tasks, and wait for the slot
// that this step holds.
func (f *planner) plan(ctx context.Context, s *stage, elements func(*[]byte) bool, emit func([]byte), do func(context.Context, *work.Planning) error) (work.Outcome, error) {
	outcomes, counts, err := work.ReadOutcomes(elements)
	if err != nil {
		return work.Outcome{}, faultOf(string(s.name), err)
	}
	expect(ctx, f.Runs, s.name, 1)
	done, figures, err := once(ctx, f.Runs, f.Name, outcomes, func(ctx context.Context) (done work.Done, figures work.Figures, err error) {
		p := work.Planning{
			Runs: f.Runs, Outcomes: slices.Clone(outcomes), Counts: counts, Outcome: work.Outcome{Stage: s.name},
			Emit: func(t work.Task) { done.Tasks = append(done.Tasks, t.Encode()) },
		}
		figures, err = f.Runs.Run(ctx, s.name, 0, func(m *work.Memory) error {
			p.Memory = m
			return do(ctx, &p)
		})
		done.Outcome = p.Outcome
		return done, figures, err
	})
	if err != nil {
		return done.Outcome, faultOf(string(s.name), err)
	}
	if figures != (work.Figures{}) { // otherwise an earlier run had done it
		s.count(ctx, figures)
	} else {
		s.recalled.Inc(ctx, 1)
	}
	f.Runs.Ended(s.name, figures)
	expect(ctx, f.Runs, s.name, len(done.Tasks))
	for _, element := range done.Tasks {
		emit(element)
	}
	return done.Outcome, nil
}

// after returns a step that sets up its work first, see [worker]. Attempts at the step, which may run side by side, share it.
func after(setup func() error, do func(context.Context, *work.Planning) error) func(context.Context, *work.Planning) error {
	setup = sync.OnceValue(setup)
	return func(ctx context.Context, p *work.Planning) error {
		if err := setup(); err != nil {
			return err
		}
		return do(ctx, p)
	}
}

// once does a step that is given outcomes, unless an earlier run has done it.
func once(ctx context.Context, runs work.Runs, name string, outcomes []work.Outcome, do work.Attempt) (done work.Done, figures work.Figures, err error) {
	var given [][]byte
	if runs.Resumable {
		for _, o := range outcomes {
			element, err := o.Encode()
			if err != nil {
				return done, figures, err
			}
			given = append(given, element)
		}
	}
	done, found, err := runs.Recall(name, given...)
	if found || err != nil {
		return done, figures, err
	}
	if done, figures, err = runs.Try(ctx, name, do); err != nil {
		return done, figures, err
	}
	return done, figures, runs.Remember(done, name, given...)
}

// faultOf marks an error of a step, unless a task has marked it. It returns nil for nil.
func faultOf(name string, err error) error {
	if _, isMarked := errors.AsType[work.Fault](err); err == nil || isMarked {
		return err
	}
	return work.MarkFault(fmt.Errorf("%s: %w", name, err))
}
