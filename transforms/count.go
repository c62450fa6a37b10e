package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/work"
)

// Count counts the documents that have each shingle: PCollection<[]byte> of spread outcomes to one of outcomes with the
// frequencies of shingles. Only methods that need frequencies have this stage.
func Count(s beam.Scope, job *Job, spread beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Count)
	return sideBySide(at, &countFn{newTasks(at, counting{})}, exchange(at, methods.CountNeeds(), spread))
}

func init() { declare(&countFn{}) }

type countFn struct{ taskFn[counting] }

type counting struct{}

func (*counting) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	return methods.Count(ctx, t, w)
}
