package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam.dev/internal/work"
)

var doFns []any

// declare makes DoFns known to Beam, in every process. A file declares its DoFns next to their types.
func declare(fns ...any) {
	for _, fn := range fns {
		beam.RegisterDoFn(fn)
	}
	doFns = append(doFns, fns...)
}

func init() {
	register.Function1x2(oneKey)
	register.Function1x1(same)
	register.Emitter1[[]byte]()
	register.Iter1[[]byte]()
}

// exchange turns outcomes of the tasks of some stages, PCollection<[]byte> each, into the tasks of the next stage. Each
// shard that was written to becomes a task, with the pieces of all run files for it. The number of elements is the sum
// of splits and shards, never their product.
func exchange(s stage, d work.Delivery, outcomes ...beam.PCollection) beam.PCollection {
	s = s.part("exchange")
	return beam.ParDo(s.Scope, &exchangeFn{Delivery: d, planner: s.planner()}, together(s, outcomes...))
}

// together brings all outcomes to one place: PCollection<KV<int64, []byte>> grouped under one key. An impulse makes
// sure that there is always one group. The impulse passes through a step of its own, since portable runners refuse to
// flatten a bare one (apache/beam#34647).
func together(s stage, outcomes ...beam.PCollection) beam.PCollection {
	impulse := beam.ParDo(s.Scope, same, beam.Impulse(s.Scope))
	all := beam.Flatten(s.Scope, append(outcomes, impulse)...)
	return beam.GroupByKey(s.Scope, beam.ParDo(s.Scope, oneKey, all))
}

func same(element []byte) []byte { return element }

func oneKey(element []byte) (int64, []byte) { return 0, element }

// sideBySide applies a DoFn that embeds a bundle to tasks and returns their outcomes. The reshuffle lets a runner
// spread the tasks over workers. Without it the runner would run them where they were made.
func sideBySide(s stage, fn any, tasks beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope, fn, beam.Reshuffle(s.Scope, tasks))
}

// plan applies a step to all outcomes and returns the tasks that it makes.
func plan(s stage, fn any, outcomes ...beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope, fn, together(s, outcomes...))
}

func init() { declare(&exchangeFn{}) }

type exchangeFn struct {
	Delivery work.Delivery

	planner
}

func (f *exchangeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool,
	emit func([]byte),
) error {
	outcomes, counts, given, err := f.read(elements)
	if err != nil {
		return faultOf("exchange", err)
	}
	done, _, _, err := once(ctx, f.Runs, f.Name, f.Name, given,
		func(context.Context) (done work.Done, none work.Figures, err error) {
			err = f.Delivery.After(outcomes).Deliver(string(f.Runs.Folder),
				work.RunsBut(outcomes, f.Delivery.OnlyCounted...), counts, func(t work.Task) {
					done.Tasks = append(done.Tasks, t.Encode())
				})
			return done, none, err
		})
	if err != nil {
		return faultOf("exchange", err)
	}
	f.emit(ctx, done, emit)
	return nil
}
