package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/match/scoring"
	"mirrorbeam/internal/measure/common"
)

func init() {
	beam.RegisterDoFn(&seeSequencesFn{})
	beam.RegisterDoFn(&countSequencesFn{})
	beam.RegisterDoFn(&weighFn{})
}

// weigh counts how many documents have each shingle, from the outcomes of Fingerprint, and makes the tasks that score the
// gathered pairs. These tasks tell how rare it is what a pair shares.
func weigh(s beam.Scope, job *Job, sketches, gathered beam.PCollection) beam.PCollection {
	s = s.Scope("weigh")
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Fingerprinting.Kept.Fingerprints}
	seen := sideBySide(s, &seeSequencesFn{seeFn{Work: seeing, bundle: job.bundle()}}, exchange(s, job, common.WholeDelivery(common.FirstRound, false), sketches))
	count := s.Scope("count")
	counting := common.Counting{Law: common.BeyondPairs()}
	frequent := sideBySide(count, &countSequencesFn{countSeenFn{Work: counting, bundle: job.bundle()}}, exchange(count, job, common.SeenDelivery(), seen))
	tasks := &weighFn{Work: common.NewWeighing(scoring.Delivery()), planner: job.planner(s)}
	return beam.ParDo(s, tasks, together(s, frequent, gathered))
}

// seeSequencesFn and countSequencesFn do what seeFn and countSeenFn do. Each has a type of its own for the reason of
// [gatherSetsFn].
type (
	seeSequencesFn   struct{ seeFn }
	countSequencesFn struct{ countSeenFn }
)

// weighFn lists the shingles that are not rare, and makes the tasks that score.
type weighFn struct {
	Work common.Weighing

	planner
}

func (f *weighFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, commonStage, elements, emit, f.Work.Plan)
	return err
}
