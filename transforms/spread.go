package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
)

func init() {
	beam.RegisterDoFn(&spreadPlanFn{})
	beam.RegisterDoFn(&spreadFn{})
}

// Spread writes the shingles of all documents by ranges of hashes: PCollection<[]byte> of fingerprint outcomes to one of
// outcomes with the shingles, for [Count]. Only methods that need frequencies have this stage.
func Spread(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("spread")
	plan := methods.SpreadPlanning{Parameters: job.Parameters}
	tasks := beam.ParDo(s, &spreadPlanFn{Work: plan, planner: job.planner(s)}, together(s, sketches))
	return sideBySide(s, &spreadFn{bundle: job.bundle()}, tasks)
}

var spreadStage = newStage(work.Spread)

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
	return f.begin(ctx, spreadStage, element, taskFunc(methods.Spread))
}
