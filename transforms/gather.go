package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/gathering"
)

// Gather brings each candidate pair and the sets of its documents to one place; see
// [gathering].
//
// It takes the outcomes of Group and Fingerprint, PCollection<[]byte> each, and
// returns one of outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job *Job, grouped, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Gather)
	place, pairs, sets := at.part("place"), at.part("pairs"), at.part("sets")
	components := gathering.Components{Inputs: job.Inputs, PlaceBytes: job.PlaceBytes, GraphBytes: job.GraphBytes, Bounds: job.Parameters.Bounds}
	tasks, placed := beam.ParDo2(place.Scope, &placeFn{tellingFn[gathering.Components]{newStep(place, components)}}, together(place, grouped, sketches))
	sending := gathering.Sending{Inputs: job.Inputs}
	sent := sideBySide(pairs, &gatherFn{newTasks(pairs, sending)}, tasks)
	tasks = exchange(at, gathering.SetsDelivery(), sketches, placed, sent)
	return beam.Flatten(at.Scope, placed, sent, sideBySide(sets, &gatherSetsFn{newTasks(sets, sending)}, tasks))
}

// placeFn emits the tasks that send pairs, and an outcome that names the places.
type placeFn struct {
	tellingFn[gathering.Components]
}

// joinFn emits the tasks that send the sets of heaps, and an outcome that names the heaps.
type joinFn struct{ tellingFn[gathering.Heaps] }

// gatherFn sends pairs to their places, gatherSetsFn the sets of these pairs, and gatherHeapsFn the sets of heaps.
type (
	gatherFn      struct{ taskFn[gathering.Sending] }
	gatherSetsFn  struct{ taskFn[gathering.Sending] }
	gatherHeapsFn struct{ taskFn[gathering.Sending] }
)
