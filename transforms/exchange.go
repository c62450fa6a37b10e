package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/carry/work"
)

func init() {
	register.Function1x2(oneKey)
	register.Function1x1(same)
	beam.RegisterDoFn(&exchangeFn{})
	register.Emitter1[[]byte]()
	register.Iter1[[]byte]()
}

// exchange turns the outcomes of the tasks of some stages into the tasks of the next stage. Each shard that was written
// to becomes a task, with the pieces of all run files for it. The number of elements is the sum of splits and shards,
// never their product.
//
// It takes PCollection<[]byte> of outcomes and returns PCollection<[]byte> of tasks.
func exchange(s beam.Scope, job *Job, d work.Delivery, outcomes ...beam.PCollection) beam.PCollection {
	s = s.Scope("exchange")
	return beam.ParDo(s, &exchangeFn{Delivery: d, planner: job.planner(s)}, together(s, outcomes...))
}

// together brings all outcomes to one place: PCollection<KV<int64, []byte>> grouped under one key. An impulse makes
// sure that there is always one group. The impulse passes through a step of its own, since portable runners refuse to
// flatten a bare one (apache/beam#34647).
func together(s beam.Scope, outcomes ...beam.PCollection) beam.PCollection {
	impulse := beam.ParDo(s, same, beam.Impulse(s))
	all := beam.Flatten(s, append(outcomes, impulse)...)
	return beam.GroupByKey(s, beam.ParDo(s, oneKey, all))
}

func same(element []byte) []byte { return element }

func oneKey(element []byte) (int64, []byte) { return 0, element }

// sideBySide applies a DoFn that embeds a bundle to tasks and returns their outcomes. The reshuffle lets a runner
// spread the tasks over workers. Without it the runner would run them where they were made.
func sideBySide(s beam.Scope, fn any, tasks beam.PCollection) beam.PCollection {
	return beam.ParDo(s, fn, beam.Reshuffle(s, tasks))
}

type exchangeFn struct {
	Delivery work.Delivery

	planner
}

func (f *exchangeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	outcomes, counts, err := work.ReadOutcomes(elements)
	if err != nil {
		return faultOf("exchange", err)
	}
	done, _, err := once(ctx, f.Runs, f.Name, outcomes, func(context.Context) (done work.Done, none work.Figures, err error) {
		err = f.Delivery.Deliver(string(f.Runs.Folder), work.RunsOf(outcomes), counts, func(t work.Task) {
			done.Tasks = append(done.Tasks, t.Encode())
		})
		return done, none, err
	})
	if err != nil {
		return faultOf("exchange", err)
	}
	expect(ctx, f.Runs, work.StageOf(f.Name), len(done.Tasks))
	for _, element := range done.Tasks {
		emit(element)
	}
	return nil
}
