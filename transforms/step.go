package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mirrorbeam/internal/carry/work"
)

// stepFn is a DoFn that makes tasks of the outcomes of all earlier tasks, as its work W says. Each use of it in the graph has a
// type of its own that embeds it, for the reason of [taskFn].
type stepFn[W any] struct {
	// Work is what the step does.
	Work W

	planner
}

// planning is the work of a step. If it has a method Setup() error, that is called first; see [worker].
type planning interface {
	Plan(ctx context.Context, p *work.Planning) error
}

// newStep returns a DoFn for a step of a stage.
func newStep[W any, P interface {
	*W
	planning
}](s stage, w W) stepFn[W] {
	return stepFn[W]{w, s.planner()}
}

// ProcessElement does the step and emits the tasks.
func (f *stepFn[W]) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, elements, emit, any(&f.Work).(planning))
	return err
}

// tellingFn is a step that emits its own outcome, too.
type tellingFn[W any] struct{ stepFn[W] }

// ProcessElement does the step and emits the tasks, and the step's own outcome.
func (f *tellingFn[W]) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitOwn func([]byte)) error {
	o, err := f.plan(ctx, elements, emitTask, any(&f.Work).(planning))
	if err != nil {
		return err
	}
	element, err := o.Encode()
	if err == nil {
		emitOwn(element)
	}
	return err
}

// planner holds what is common to DoFns of steps that see the outcomes of all earlier tasks.
type planner struct {
	// Stage is the stage of the tasks that the step makes.
	Stage work.Stage
	// Runs says where the step writes.
	Runs work.Runs
	// Name tells the step from all others of the job.
	Name string
}

func (s stage) planner() planner { return planner{Stage: s.name, Runs: s.job.Runs, Name: s.String()} }

// plan does the work of a step, in the goroutine that Beam has called, and returns the step's own outcome. It holds
// back the tasks that the step emits until the step has ended: an element may begin other tasks, and wait for the slot
// that this step holds.
func (f *planner) plan(ctx context.Context, elements func(*[]byte) bool, emit func([]byte), do planning) (work.Outcome, error) {
	outcomes, counts, err := work.ReadOutcomes(elements)
	if err != nil {
		return work.Outcome{}, faultOf(string(f.Stage), err)
	}
	expect(ctx, f.Runs, f.Stage, 1)
	setUp := sync.OnceValue(func() error { return setUp(do) }) // attempts at the step, which may run side by side, share it
	done, figures, err := once(ctx, f.Runs, f.Name, outcomes, func(ctx context.Context) (done work.Done, figures work.Figures, err error) {
		p := work.Planning{
			Runs: f.Runs, Outcomes: slices.Clone(outcomes), Counts: counts, Outcome: work.Outcome{Stage: f.Stage},
			Emit: func(t work.Task) { done.Tasks = append(done.Tasks, t.Encode()) },
		}
		figures, err = f.Runs.Run(ctx, f.Stage, 0, func(m *work.Memory) error {
			if err := setUp(); err != nil {
				return err
			}
			p.Memory = m
			return do.Plan(ctx, &p)
		})
		done.Outcome = p.Outcome
		return done, figures, err
	})
	if err != nil {
		return done.Outcome, faultOf(string(f.Stage), err)
	}
	if figures != (work.Figures{}) { // otherwise an earlier run had done it
		meters[f.Stage].count(ctx, figures)
	} else {
		meters[f.Stage].recalled.Inc(ctx, 1)
	}
	f.Runs.Ended(f.Stage, figures)
	expect(ctx, f.Runs, f.Stage, len(done.Tasks))
	for _, element := range done.Tasks {
		emit(element)
	}
	return done.Outcome, nil
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
