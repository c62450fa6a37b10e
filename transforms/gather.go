package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/gathering"
)

func init() {
	beam.RegisterDoFn(&placeFn{})
	beam.RegisterDoFn(&gatherFn{})
	beam.RegisterDoFn(&gatherSetsFn{})
	beam.RegisterDoFn(&gatherHeapsFn{})
}

// Gather brings each candidate pair and the sets of its documents to one place; see
// [gathering].
//
// It takes the outcomes of Group and Fingerprint, PCollection<[]byte> each, and
// returns one of outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job *Job, grouped, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("gather")
	place := &placeFn{
		Work:    gathering.Components{Inputs: job.Inputs, PlaceBytes: job.PlaceBytes, GraphBytes: job.GraphBytes, Bounds: job.Parameters.Bounds},
		planner: job.planner(s),
	}
	placing := s.Scope("place")
	tasks, places := beam.ParDo2(placing, place, together(placing, grouped, sketches))
	pairs := sideBySide(s.Scope("pairs"), &gatherFn{Work: sending(job), bundle: job.bundle()}, tasks)
	tasks = exchange(s, job, gathering.SetsDelivery(), sketches, places, pairs)
	sets := sideBySide(s.Scope("sets"), &gatherSetsFn{gatherFn{Work: sending(job), bundle: job.bundle()}}, tasks)
	return beam.Flatten(s, places, pairs, sets)
}

var gatherStage = newStage(work.Gather)

// placeFn emits the tasks that send pairs, and an outcome that names the places.
type placeFn struct {
	Work gathering.Components

	planner
}

func (f *placeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emitTask, emitPlaces func([]byte)) error {
	return f.planAndTell(ctx, elements, emitTask, emitPlaces, after(f.Work.Setup, f.Work.Plan))
}

// planAndTell does the work of a step of gathering. It emits the tasks that the step makes, and the step's own outcome.
func (f *planner) planAndTell(ctx context.Context, elements func(*[]byte) bool, emitTask, emitOwn func([]byte), do func(context.Context, *work.Planning) error) error {
	o, err := f.plan(ctx, gatherStage, elements, emitTask, do)
	if err != nil {
		return err
	}
	element, err := o.Encode()
	if err == nil {
		emitOwn(element)
	}
	return err
}

// gatherFn sends pairs to their places.
type gatherFn struct {
	Work gathering.Sending

	bundle
}

// gatherSetsFn sends the sets of these pairs, and gatherHeapsFn those of heaps. Each use of a DoFn in the graph has a type
// of its own: of two DoFns of one type, the local runner would keep the metrics of the first only.
type (
	gatherSetsFn  struct{ gatherFn }
	gatherHeapsFn struct{ gatherFn }
)

func sending(job *Job) gathering.Sending { return gathering.Sending{Inputs: job.Inputs} }

func (f *gatherFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, gatherStage, element, &f.Work)
}
