package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
)

// Key spreads the keys of all documents over shards: it takes the outcomes of Fingerprint
// and, if the method needs an order of shingles, of Spread and Count, PCollection<[]byte>
// each, and returns one of outcomes with key runs.
func Key(s beam.Scope, job *Job, sketches beam.PCollection, counts ...beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Key)
	var tasks beam.PCollection
	if method := job.method(); method.Ordered {
		at := at.part("order")
		order := methods.Ordering{Method: job.Method, Parameters: job.Parameters}
		tasks = plan(at, &orderFn{newStep(at, order)}, append(counts, sketches)...)
	} else {
		tasks = exchange(at, method.Needs(), sketches)
	}
	return sideBySide(at, &keyFn{newTasks(at, methods.Keying{Method: job.Method, Parameters: job.Parameters})}, tasks)
}

// orderFn makes an order of the shingles, and the tasks that make keys in this order.
type orderFn struct{ stepFn[methods.Ordering] }

type keyFn struct{ taskFn[methods.Keying] }

// Spread writes the shingles of all documents by ranges of hashes: PCollection<[]byte> of fingerprint outcomes to one of
// outcomes with the shingles, for [Count]. Only methods that need frequencies have this stage.
func Spread(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Spread)
	tasks := plan(at, &spreadPlanFn{newStep(at, methods.SpreadPlanning{Parameters: job.Parameters})}, sketches)
	return sideBySide(at, &spreadFn{newTasks(at, spreading{})}, tasks)
}

// spreadPlanFn makes the tasks that spread shingles.
type spreadPlanFn struct {
	stepFn[methods.SpreadPlanning]
}

type spreadFn struct{ taskFn[spreading] }

type spreading struct{}

func (*spreading) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	return methods.Spread(ctx, t, w)
}

// Count counts the documents that have each shingle: PCollection<[]byte> of spread outcomes to one of outcomes with the
// frequencies of shingles. Only methods that need frequencies have this stage.
func Count(s beam.Scope, job *Job, spread beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Count)
	return sideBySide(at, &countFn{newTasks(at, counting{})}, exchange(at, methods.CountNeeds(), spread))
}

type countFn struct{ taskFn[counting] }

type counting struct{}

func (*counting) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	return methods.Count(ctx, t, w)
}
