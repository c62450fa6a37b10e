package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/pairs/gathering"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/work"
)

// Gather brings each candidate pair and the sets of its documents to one place; see [gathering]. It takes the outcomes
// of Group and Fingerprint, PCollection<[]byte> each, and returns one of outcomes with the pairs and sets by place.
func Gather(s beam.Scope, job *Job, grouped, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Gather)
	place, pairs, sets := at.part("place"), at.part("pairs"), at.part("sets")
	components := gathering.Components{
		Inputs:     job.Inputs,
		PlaceBytes: job.PlaceBytes,
		GraphBytes: job.GraphBytes,
		Bounds:     job.Parameters.Bounds,
		Ranges:     job.JoinRanges,
	}
	outcomes := []beam.PCollection{grouped, sketches}
	if job.JoinRanges > 0 {
		outcomes = append(outcomes, placeRanges(at, grouped, sketches))
	}
	tasks, placed := beam.ParDo2(place.Scope, &placeFn{tellingFn[gathering.Components]{newStep(place, components)}},
		together(place, outcomes...))
	sending := gathering.Sending{Inputs: job.Inputs, Ranges: job.JoinRanges}
	sent := sideBySide(pairs, &gatherFn{newTasks(pairs, sending)}, tasks)
	tasks = exchange(at, gathering.SetsDelivery(), append(outcomes[1:], placed, sent)...)
	return beam.Flatten(at.Scope, placed, sent, sideBySide(sets, &gatherSetsFn{newTasks(sets, sending)}, tasks))
}

func placeRanges(at stage, grouped, sketches beam.PCollection) beam.PCollection {
	job, ranges, step := at.job, at.job.ranges(), at.part("unite")
	uniting := gathering.Uniting{
		Uniting: union.Uniting{Ranges: ranges, GraphBytes: job.GraphBytes},
		Bounds:  job.Parameters.Bounds,
	}
	return unite(at, union.SpreadingDelivery(records.Nodes, job.JoinRanges, work.Fingerprint, work.Strip, work.Prune),
		unionFns{
			spread: &spreadNodesFn{newTasks(at, union.Spreading{Ranges: ranges, Kind: records.Nodes})},
			link:   &linkNodesFn{newTasks(at, union.Linking{Ranges: ranges, Bytes: job.RangeBytes})},
			unite:  &uniteNodesFn{newStep(step, uniting)},
			move:   &moveNodesFn{newTasks(at, union.Moving{Ranges: ranges})},
			finish: &placeRangeFn{newTasks(at, gathering.PlacingRange{
				Finishing:  job.finishing(),
				PlaceBytes: job.PlaceBytes,
			})},
		}, grouped, sketches)
}

func init() {
	declare(&placeFn{}, &joinFn{}, &spreadNodesFn{}, &linkNodesFn{}, &uniteNodesFn{}, &moveNodesFn{}, &placeRangeFn{},
		&gatherFn{}, &gatherSetsFn{}, &gatherHotGroupsFn{})
}

// placeFn and joinFn emit the tasks that send pairs, or the sets of hot groups, and an outcome that names the places.
type (
	placeFn struct {
		tellingFn[gathering.Components]
	}
	joinFn            struct{ tellingFn[gathering.HotGroups] }
	gatherFn          struct{ taskFn[gathering.Sending] }
	gatherSetsFn      struct{ taskFn[gathering.Sending] }
	gatherHotGroupsFn struct{ taskFn[gathering.Sending] }
)

// These place components by ranges; see [unite].
type (
	spreadNodesFn struct{ taskFn[union.Spreading] }
	linkNodesFn   struct{ taskFn[union.Linking] }
	uniteNodesFn  struct{ stepFn[gathering.Uniting] }
	moveNodesFn   struct{ taskFn[union.Moving] }
	placeRangeFn  struct{ taskFn[gathering.PlacingRange] }
)
