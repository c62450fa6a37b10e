package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/match/gathering"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/match/scoring"
)

func init() {
	beam.RegisterDoFn(&joinFn{})
	beam.RegisterDoFn(&heapFn{})
}

// heaps gathers and scores the heaps: it takes the outcomes of the groups and of Fingerprint, PCollection<[]byte> each,
// and returns one of outcomes with edges and stars. A heap has too many pairs to compare them all. So its documents
// come to one place, in their order of preference, and are compared with a few leaders.
func heaps(s beam.Scope, job *Job, groups, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("heaps")
	join := &joinFn{Work: gathering.Heaps{Inputs: job.Inputs, PlaceBytes: job.PlaceBytes, GraphBytes: job.GraphBytes}, planner: job.planner(s)}
	tasks, joined := beam.ParDo2(s, join, together(s, groups, sketches))
	sets := sideBySide(s.Scope("sets"), &gatherHeapsFn{gatherFn{Work: sending(job), bundle: job.bundle()}}, tasks)
	scored := sideBySide(s, &heapFn{Work: scoring.Heaps{
		Inputs: job.Inputs, Similarity: job.Similarity, FirstPart: methods.MostParts(job.Parameters.Shards), ListedPairs: job.Parameters.Bounds.Group,
	}, bundle: job.bundle()}, exchange(s, job, scoring.HeapsDelivery(), joined, sets))
	return beam.Flatten(s, joined, sets, scored)
}

// joinFn emits the tasks that send the sets of heaps, and an outcome that names the heaps.
type joinFn struct {
	Work gathering.Heaps

	planner
}

func (f *joinFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitHeaps func([]byte)) error {
	return f.planAndTell(ctx, elements, emitTask, emitHeaps, after(f.Work.Setup, f.Work.Plan))
}

// heapFn scores the heaps of a place.
type heapFn struct {
	Work scoring.Heaps

	bundle
}

func (f *heapFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, scoreStage, element, &f.Work)
}
