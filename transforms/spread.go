package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/work"
)

// Spread writes the shingles of all documents by ranges of hashes: PCollection<[]byte> of fingerprint outcomes to one
// of outcomes with the shingles, for [Count]. Only methods that need frequencies have this stage.
func Spread(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Spread)
	tasks := plan(at, &spreadPlanFn{newStep(at, methods.SpreadPlanning{Parameters: job.Parameters})}, sketches)
	return sideBySide(at, &spreadFn{newTasks(at, spreading{})}, tasks)
}

func init() { declare(&spreadPlanFn{}, &spreadFn{}) }

type spreadPlanFn struct {
	stepFn[methods.SpreadPlanning]
}

type spreadFn struct{ taskFn[spreading] }

type spreading struct{}

func (*spreading) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	return methods.Spread(ctx, t, w)
}
