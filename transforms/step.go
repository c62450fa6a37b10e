package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// stepFn is a DoFn that makes tasks of the outcomes of all earlier tasks, as its work W says. Each use of it in the
// graph has a type of its own that embeds it, for the reason of [taskFn].
type stepFn[W any] struct {
	Work W

	planner
}

// planning is the work of a step. If it has a method Setup() error, that is called first; see [worker].
type planning interface {
	Plan(ctx context.Context, p *work.Planning) error
}

func newStep[W any, P interface {
	*W
	planning
}](s stage, w W) stepFn[W] {
	return stepFn[W]{w, s.planner()}
}

func (f *stepFn[W]) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, elements, emit, any(&f.Work).(planning))
	return err
}

// tellingFn is a step that emits its own outcome, too.
type tellingFn[W any] struct{ stepFn[W] }

// ProcessElement does the step and emits the tasks, and the step's own outcome.
func (f *tellingFn[W]) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool,
	emitTask, emitOwn func([]byte),
) error {
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
	Stage work.Stage
	Runs  work.Runs
	// Name tells the step from all others of the job.
	Name string
}

func (s stage) planner() planner { return planner{Stage: s.name, Runs: s.job.Runs, Name: s.String()} }

// plan does the work of a step, in the goroutine that Beam has called, and returns the step's own outcome. It holds
// back the tasks that the step emits until the step has ended: an element may begin other tasks, and wait for the slot
// that this step holds.
func (f *planner) plan(ctx context.Context, elements func(*[]byte) bool, emit func([]byte),
	do planning,
) (work.Outcome, error) {
	outcomes, counts, given, err := f.read(elements)
	if err != nil {
		return work.Outcome{}, faultOf(string(f.Stage), err)
	}
	expect(ctx, f.Runs, f.Stage, 1)
	// attempts at the step, which may run side by side, share it
	setUp := sync.OnceValue(func() error { return setUp(do) })
	done, figures, recalled, err := once(ctx, f.Runs, f.Name, f.Name, given,
		func(ctx context.Context) (done work.Done, figures work.Figures, err error) {
			p := work.Planning{
				Runs:     f.Runs,
				Outcomes: slices.Clone(outcomes),
				Counts:   counts,
				Outcome:  work.Outcome{Stage: f.Stage},
				Emit:     func(t work.Task) { done.Tasks = append(done.Tasks, t.Encode()) },
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
	if recalled {
		countRecalled(ctx, f.Stage)
	} else {
		count(ctx, f.Stage, figures)
	}
	f.Runs.Ended(f.Stage, figures)
	f.emit(ctx, done, emit)
	return done.Outcome, nil
}

// read reads the outcomes that a step is given. Given are their encodings, in their order, if the run can be resumed.
func (f *planner) read(elements func(*[]byte) bool) (
	outcomes []work.Outcome, counts findings.Counts, given [][]byte, err error,
) {
	outcomes, counts, err = work.ReadOutcomes(elements)
	for i := 0; i < len(outcomes) && f.Runs.Resumable && err == nil; i++ {
		var element []byte
		element, err = outcomes[i].Encode()
		given = append(given, element)
	}
	return outcomes, counts, given, err
}

func (f *planner) emit(ctx context.Context, done work.Done, emit func([]byte)) {
	expect(ctx, f.Runs, f.Stage, len(done.Tasks))
	for _, element := range done.Tasks {
		emit(element)
	}
}

// once does a step or a task, unless an earlier run has done it. A note of its outcome is under its key.
func once(ctx context.Context, runs work.Runs, key, name string, given [][]byte, do work.Attempt) (
	done work.Done, figures work.Figures, recalled bool, err error,
) {
	done, recalled, err = runs.Recall(key, given...)
	if recalled || err != nil {
		return done, figures, recalled, err
	}
	if done, figures, err = runs.Try(ctx, name, do); err == nil {
		err = runs.Remember(done, key, given...)
	}
	return done, figures, false, err
}

// faultOf marks an error of a step, unless a task has marked it. It returns nil for nil.
func faultOf(name string, err error) error {
	if _, isMarked := errors.AsType[work.Fault](err); err == nil || isMarked {
		return err
	}
	return work.MarkFault(fmt.Errorf("%s: %w", name, err))
}

// stage is a stage that is being laid out, or a part of one. Its scope and its metrics have the name of the stage.
type stage struct {
	beam.Scope
	name work.Stage
	job  *Job
}

func (j *Job) stage(s beam.Scope, name work.Stage) stage {
	return stage{s.Scope(string(name)), name, j}
}

func (s stage) part(name string) stage {
	s.Scope = s.Scope.Scope(name)
	return s
}

// count adds the figures of a task to the metrics of its stage, in the goroutine that Beam has called.
func count(ctx context.Context, name work.Stage, f work.Figures) {
	add := func(metric string, value int64) { beam.NewCounter(string(name), metric).Inc(ctx, value) }
	add("tasks", 1)
	add("records", f.Records)
	add("bytes", f.Bytes)
	add("cpu_ns", int64(f.CPU))
	add("pieces", f.Pieces)
	add("read_bytes", f.Read)
	add("written_bytes", f.Written)
	span := beam.NewDistribution(string(name), "unix_ms")
	span.Update(ctx, f.Begun.UnixMilli())
	span.Update(ctx, f.Ended.UnixMilli())
	beam.NewDistribution(string(name), "resident_bytes").Update(ctx, f.Resident)
	if f.Spent == (storage.Spent{}) {
		return // as in a job without a bucket, whose metrics need not show it
	}
	for kind, requests := range f.Spent.Requests {
		add(work.RequestsMetric(storage.Kind(kind)), requests)
	}
	add(work.ReceivedBytes, f.Spent.ReadBytes)
	add(work.SentBytes, f.Spent.WrittenBytes)
	add(work.FetchedBytes, f.Spent.FetchedBytes)
	add(work.AnsweringNS, int64(f.Spent.Answering))
}

func countRecalled(ctx context.Context, name work.Stage) {
	beam.NewCounter(string(name), "recalled").Inc(ctx, 1)
}

// expect notes that a stage will have further tasks, for this process and for the metrics of the runner.
func expect(ctx context.Context, runs work.Runs, name work.Stage, tasks int) {
	runs.Expect(name, tasks)
	if name != "" && tasks > 0 {
		beam.NewCounter(string(name), "expected").Inc(ctx, int64(tasks))
	}
}
