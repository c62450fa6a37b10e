package transforms

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/carry/work"
)

// bundle works on the tasks of a Beam bundle side by side. A runner hands a DoFn one element after the other, however
// many cores there are. So a DoFn that embeds a bundle only begins a task when it gets its element. At the end of the
// bundle it waits for all tasks and emits their outcomes, in the order of the elements.
type bundle struct {
	// Runs says where the tasks write.
	Runs work.Runs
	// Lanes is the number of tasks of the bundle that a process works on at a time, at least 1. It changes no result.
	Lanes int

	isReady bool            // the work has been set up
	group   *errgroup.Group // nil while there is no task
	ctx     context.Context // context of the tasks: it ends when one of them fails
	cancel  context.CancelFunc
	begun   []*begun
	held    sync.Map // values that the tasks share
}

// begun is a task of a bundle, which may have ended.
type begun struct {
	stage    *stage
	outcome  work.Outcome
	figures  work.Figures
	recalled bool // an earlier run had done it
}

// worker is the work of a DoFn. If it has a method Setup() error, that is called before the first task.
//
// It is not left to a Setup of the DoFn, which a runner may call before any stage has begun. In a pipeline of somebody
// else the list of inputs is written by an earlier stage.
type worker interface {
	Task(ctx context.Context, t work.Task, w *work.Desk) error
}

// taskFunc is a worker that needs no more than a function.
type taskFunc func(context.Context, work.Task, *work.Desk) error

// Task calls the function.
func (f taskFunc) Task(ctx context.Context, t work.Task, w *work.Desk) error { return f(ctx, t, w) }

// setUp sets the work up, before the first task.
func (b *bundle) setUp(do worker) error {
	if b.isReady {
		return nil
	}
	if needs, ok := do.(interface{ Setup() error }); ok {
		if err := needs.Setup(); err != nil {
			return err
		}
	}
	b.isReady = true
	return nil
}

// begin waits until fewer than Lanes tasks of the bundle run, then begins the task in an element. The task writes its
// run to its place. If an earlier task has failed, begin returns its fault.
func (b *bundle) begin(ctx context.Context, s *stage, element []byte, do worker) error {
	if err := b.setUp(do); err != nil {
		return faultOf(string(s.name), err)
	}
	if b.group == nil {
		ctx, b.cancel = context.WithCancel(ctx)
		b.group, b.ctx = errgroup.WithContext(ctx)
		b.group.SetLimit(max(b.Lanes, 1))
	}
	if b.ctx.Err() != nil {
		return b.wait()
	}
	element = slices.Clone(element) // the runner may use its memory again
	t := work.DecodeTask(element)
	one := &begun{stage: s}
	b.begun = append(b.begun, one)
	ofTasks, name := b.ctx, fmt.Sprintf("%s %d", s.name, t.Number)
	b.group.Go(func() error {
		done, found, err := b.Runs.Recall(string(s.name), element)
		if found || err != nil {
			if one.outcome, one.recalled = done.Outcome, found; found {
				b.Runs.Ended(s.name, work.Figures{})
			}
			return faultOf(name, err)
		}
		done, one.figures, err = b.Runs.Try(ofTasks, name, func(ctx context.Context) (done work.Done, figures work.Figures, err error) {
			done.Outcome = work.Outcome{Stage: s.name, Number: t.Number}
			figures, err = b.Runs.Run(ctx, s.name, t.Number, func(m *work.Memory) error {
				w := &work.Desk{Memory: m, Runs: b.Runs, Outcome: &done.Outcome, Hold: func(shared any) { b.held.Store(shared, nil) }}
				return w.Do(ctx, t, do.Task)
			})
			return done, figures, err
		})
		if one.outcome = done.Outcome; err != nil {
			return err
		}
		b.Runs.Ended(s.name, one.figures)
		return faultOf(name, b.Runs.Remember(done, string(s.name), element))
	})
	return nil
}

// wait waits for all tasks and returns the fault of the first task that failed.
func (b *bundle) wait() error {
	if b.group == nil {
		return nil
	}
	err := b.group.Wait()
	b.cancel()
	b.group = nil
	b.held.Clear()
	return err
}

// FinishBundle waits for the tasks and emits their outcomes.
func (b *bundle) FinishBundle(ctx context.Context, emit func([]byte)) error {
	all := b.begun
	err := b.wait()
	b.begun = nil
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.recalled {
			t.stage.recalled.Inc(ctx, 1)
		} else {
			t.stage.count(ctx, t.figures)
		}
		element, err := t.outcome.Encode()
		if err != nil {
			return err
		}
		emit(element)
	}
	return nil
}

// Teardown ends the tasks of a bundle that failed elsewhere: nobody else finishes it.
func (b *bundle) Teardown() error {
	if b.group != nil {
		b.cancel()
	}
	b.begun = nil
	return b.wait()
}
