package transforms

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// bundle works on the tasks of a Beam bundle side by side. A runner hands a DoFn one
// element after the other, however many cores there are. So a DoFn that embeds a
// bundle only begins a task when it gets its element. At the end of the bundle it
// waits for all of them and puts out their outcomes, in the order of the elements.
type bundle struct {
	group  *errgroup.Group // nil while there is no task
	ctx    context.Context // of the tasks: it ends when one of them fails
	cancel context.CancelFunc
	begun  []*begun
	held   sync.Map // what the tasks share
}

// begun is a task of a bundle, which may have ended.
type begun struct {
	stage   *stage
	outcome work.Outcome
	figures work.Figures
}

// begin begins a task as soon as fewer than atATime of the bundle run. It returns the
// fault of an earlier one.
func (b *bundle) begin(ctx context.Context, s *stage, runs work.Runs, number, atATime int, do func(context.Context, *work.Outcome, *work.Memory) error) error {
	if b.group == nil {
		ctx, b.cancel = context.WithCancel(ctx)
		b.group, b.ctx = errgroup.WithContext(ctx)
		b.group.SetLimit(max(atATime, 1))
	}
	if b.ctx.Err() != nil {
		return b.wait()
	}
	t := &begun{stage: s, outcome: work.Outcome{Stage: s.name, Number: number}}
	b.begun = append(b.begun, t)
	ofTasks := b.ctx
	b.group.Go(func() (err error) {
		t.figures, err = runs.Run(ofTasks, s.name, number, func(m *work.Memory) error { return do(ofTasks, &t.outcome, m) })
		return err
	})
	return nil
}

// beginRun begins a task that turns the pieces of its shard into one run.
func (b *bundle) beginRun(ctx context.Context, s *stage, job Job, element []byte, do func(context.Context, work.Task, *work.Place) error) error {
	t := work.DecodeTask(element)
	return b.begin(ctx, s, job.runs(), t.Number, job.Lanes, func(ctx context.Context, o *work.Outcome, m *work.Memory) error {
		w := &work.Place{Memory: m, Runs: job.runs(), Outcome: o, Hold: func(shared any) { b.held.Store(shared, nil) }}
		defer w.Reader.Close()
		var err error
		if w.Pieces, err = runfile.ReadCatalog(t.Catalog, t.Number); err != nil {
			return err
		}
		w.Runs.Begin(&w.Run)
		defer w.Run.Abort()
		if err := do(ctx, t, w); err != nil {
			return err
		}
		o.Run, err = w.Run.Close()
		return err
	})
}

// wait waits for all tasks and returns the fault of the first that failed.
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

// FinishBundle waits for the tasks and puts out their outcomes.
func (b *bundle) FinishBundle(ctx context.Context, emit func([]byte)) error {
	all := b.begun
	err := b.wait()
	b.begun = nil
	if err != nil {
		return err
	}
	for _, t := range all {
		t.stage.count(ctx, t.figures)
		element, err := t.outcome.Encode()
		if err != nil {
			return err
		}
		emit(element)
	}
	return nil
}

// Teardown ends the tasks of a bundle that has failed elsewhere, which nobody
// finishes.
func (b *bundle) Teardown() error {
	if b.group != nil {
		b.cancel()
	}
	b.begun = nil
	return b.wait()
}
