package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&spreadPlanFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&spreadFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&countFn{})
}

// Count counts the documents that have each shingle: PCollection<[]byte> of fingerprint outcomes to one of outcomes with
// the frequencies of shingles, and of outcomes with the shingles by ranges, which nobody needs any more. Only methods
// that need frequencies have this stage.
func Count(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("count")
	plan := methods.SpreadPlanning{Parameters: job.Parameters}
	tasks := beam.ParDo(s, &spreadPlanFn{Work: plan, planner: job.planner(s)}, together(s, sketches))
	spread := sideBySide(s, &spreadFn{bundle: job.bundle()}, tasks)
	counts := sideBySide(s, &countFn{bundle: job.bundle()}, exchange(s, job, methods.CountNeeds(), spread))
	return beam.Flatten(s, spread, counts)
}

var spreadStage, countStage = newStage(work.Spread), newStage(work.Count)

// spreadPlanFn makes the tasks that spread shingles.
type spreadPlanFn struct {
	Work methods.SpreadPlanning

	planner
}

func (f *spreadPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, spreadStage, elements, emit, f.Work.Plan)
	return err
}

// spreadFn writes the shingles of a split by ranges of hashes.
type spreadFn struct{ bundle }

func (f *spreadFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, spreadStage, element, methods.Spread)
}

// countFn counts the shingles of some ranges.
type countFn struct{ bundle }

func (f *countFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, countStage, element, methods.Count)
}
