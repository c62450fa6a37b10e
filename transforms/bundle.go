package transforms

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/work"
)

// bundle works on the tasks of a Beam bundle side by side. A runner hands a DoFn one element after the other, however
// many cores there are. So a DoFn that embeds a bundle only begins a task when it gets its element. At the end of the
// bundle it waits for all tasks and emits their outcomes, in the order of the elements.
type bundle struct {
	Stage work.Stage
	Runs  work.Runs
	// Lanes is the number of tasks of the bundle that a process works on at a time, at least 1. It changes no result.
	Lanes int

	isReady bool            // the work has been set up
	group   *errgroup.Group // nil while there is no task
	ctx     context.Context // context of the tasks: it ends when one of them fails
	cancel  context.CancelFunc
	begun   []*begun
	held    sync.Map // values that the tasks share
}

type begun struct {
	outcome  work.Outcome
	figures  work.Figures
	recalled bool // an earlier run had done it
}

// taskFn is a DoFn that only begins tasks, which do the work W. Each use of it in the graph has a type of its own that
// embeds it. Beam encodes a DoFn by the name of its type, and of two DoFns of one type the local runner would keep the
// metrics of the first only.
type taskFn[W any] struct {
	Work W

	bundle
}

// worker is the work of a DoFn. If it has a method Setup() error, that is called before the first task, and not in a
// Setup of the DoFn: in a pipeline of somebody else an earlier stage writes the list of inputs.
type worker interface {
	Task(ctx context.Context, t work.Task, w *work.TaskContext) error
}

func newTasks[W any, P interface {
	*W
	worker
}](s stage, w W) taskFn[W] {
	return taskFn[W]{w, bundle{Stage: s.name, Runs: s.job.Runs, Lanes: s.job.Lanes}}
}

// ProcessElement begins the task in an element. FinishBundle emits the outcome.
func (f *taskFn[W]) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, element, any(&f.Work).(worker))
}

func setUp(do any) error {
	if needs, ok := do.(interface{ Setup() error }); ok {
		return needs.Setup()
	}
	return nil
}

// begin waits until fewer than Lanes tasks of the bundle run, then begins the task in an element. The task writes its
// run to its place. If an earlier task has failed, begin returns its fault.
func (b *bundle) begin(ctx context.Context, element []byte, do worker) error {
	if !b.isReady {
		if err := setUp(do); err != nil {
			return faultOf(string(b.Stage), err)
		}
		b.isReady = true
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
	one := &begun{}
	b.begun = append(b.begun, one)
	ofTasks, name := b.ctx, fmt.Sprintf("%s %d", b.Stage, t.Number)
	b.group.Go(func() error {
		done, figures, recalled, err := once(ofTasks, b.Runs, string(b.Stage), name, [][]byte{element},
			func(ctx context.Context) (done work.Done, figures work.Figures, err error) {
				done.Outcome = work.Outcome{Stage: b.Stage, Number: t.Number}
				figures, err = b.Runs.Run(ctx, b.Stage, t.Number, func(m *work.Memory) error {
					w := &work.TaskContext{
						Memory:  m,
						Runs:    b.Runs,
						Outcome: &done.Outcome,
						Hold:    func(shared any) { b.held.Store(shared, nil) },
					}
					return w.Do(ctx, t, do.Task)
				})
				return done, figures, err
			})
		one.outcome, one.figures, one.recalled = done.Outcome, figures, recalled
		if err == nil {
			b.Runs.Ended(b.Stage, figures)
		}
		if ofTasks.Err() != nil {
			return err
		}
		return faultOf(name, err)
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
			countRecalled(ctx, b.Stage)
		} else {
			count(ctx, b.Stage, t.figures)
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
