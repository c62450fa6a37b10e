package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&countPlanFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&countFn{})
}

// Count counts the documents that contain each shingle: PCollection<[]byte> of fingerprint outcomes to one of outcomes
// with counters. Only methods that need an order of shingles have this stage.
func Count(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("count")
	plan := methods.CountPlanning{Lanes: job.Lanes, Parameters: job.Parameters}
	tasks := beam.ParDo(s, &countPlanFn{Work: plan, planner: job.planner(s)}, together(s, sketches))
	return sideBySide(s, &countFn{Work: methods.Counting{Splits: job.Splits}, bundle: job.bundle()}, tasks)
}

var countStage = newStage(work.Count)

// countPlanFn makes the tasks that count.
type countPlanFn struct {
	Work methods.CountPlanning

	planner
}

func (f *countPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, countStage, elements, emit, f.Work.Plan)
	return err
}

// countFn counts the shingles of some splits.
type countFn struct {
	Work methods.Counting

	bundle
}

func (f *countFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, countStage, element, f.Work.Task)
}
