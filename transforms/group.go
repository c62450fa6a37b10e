package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/gathering"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/match/scoring"
	"mirrorbeam/internal/measure/common"
)

// Group brings the documents of a key together. It finds the candidate pairs, which form a part of the candidate graph
// for each shard; the stars of identical documents; and the documents that share an id.
//
// A crowd, a group of very many pairs, waits until all crowds are known, if the method has any. The corpus sets a bound
// on pairs: crowds are compared within it, the smallest first. Larger groups are dense. The documents of dense groups
// may be gathered in heaps, and scored there.
//
// It takes the outcomes of Key and Fingerprint, PCollection<[]byte> each, and returns one of outcomes.
func Group(s beam.Scope, job *Job, keys, sketches beam.PCollection) beam.PCollection {
	at, method := job.stage(s, work.Group), job.method()
	grouping := methods.Grouping{Method: job.Method, Parameters: job.Parameters}
	records := []beam.PCollection{keys}
	if job.Parameters.Narrowed {
		records = append(records, sketches) // which have the ids of the documents that were left out
	}
	found := sideBySide(at, &groupFn{newTasks(at, grouping)}, exchange(at, method.GroupNeeds(), records...))
	if job.Parameters.Narrowed {
		at := at.part("known")
		known := groups.Known{Verdicts: job.Parameters.Verdicts, Shards: job.Parameters.Shards}
		found = beam.Flatten(s, found, sideBySide(at, &knownFn{newTasks(at, known)}, exchange(at, groups.KnownDelivery(), sketches)))
	}
	if method.Crowds == methods.NeverWait {
		return found
	}
	crowds := at.part("crowds")
	tasks := plan(crowds, &crowdFn{newStep(crowds, method.Crowding(job.Parameters.Bounds))}, keys, sketches, found)
	found = beam.Flatten(s, found, sideBySide(crowds, &groupCrowdsFn{newTasks(crowds, grouping)}, tasks))
	if method.Crowds != methods.ToHeaps {
		return found
	}
	return beam.Flatten(s, found, heaps(s, job, found, sketches))
}

// heaps gathers and scores the heaps: it takes the outcomes of the groups and of Fingerprint, PCollection<[]byte> each,
// and returns one of outcomes with edges and stars. A heap has too many pairs to compare them all. So its documents
// come to one place, in their order of preference, and are compared with a few leaders.
func heaps(s beam.Scope, job *Job, groups, sketches beam.PCollection) beam.PCollection {
	gather, score := job.stage(s, work.Gather).part("heaps"), job.stage(s, work.Score).part("heaps")
	joining := gathering.Heaps{Inputs: job.Inputs, PlaceBytes: job.PlaceBytes, GraphBytes: job.GraphBytes}
	tasks, joined := beam.ParDo2(gather.Scope, &joinFn{tellingFn[gathering.Heaps]{newStep(gather, joining)}}, together(gather, groups, sketches))
	sets := sideBySide(gather, &gatherHeapsFn{newTasks(gather, gathering.Sending{Inputs: job.Inputs})}, tasks)
	scored := sideBySide(score, &heapFn{newTasks(score, scoring.Heaps{
		Inputs: job.Inputs, Similarity: job.Similarity, FirstPart: methods.MostParts(job.Parameters.Shards), ListedPairs: job.Parameters.Bounds.Group,
	})}, exchange(score, scoring.HeapsDelivery(), joined, sets))
	return beam.Flatten(s, joined, sets, scored)
}

// groupFn goes through the groups of a shard, and groupCrowdsFn through its crowds.
type (
	groupFn       struct{ taskFn[methods.Grouping] }
	groupCrowdsFn struct{ taskFn[methods.Grouping] }
)

// knownFn writes the edges that the last run has found.
type knownFn struct{ taskFn[groups.Known] }

// crowdFn decides which crowds are compared and makes the tasks that compare them.
type crowdFn struct{ stepFn[groups.Crowds] }

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

// Score computes the similarity of the pairs of each place and keeps the pairs at or above the threshold as edges:
// PCollection<[]byte> of gather outcomes to one of outcomes with edges. It numbers its parts of the similarity graph
// from the edges of Group on, which joins identical documents. If the job asks how rare passages are, it counts the shingles of
// the outcomes of Fingerprint.
func Score(s beam.Scope, job *Job, sketches, gathered beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Score)
	var tasks beam.PCollection
	if job.Rarity > 0 {
		tasks = plan(at, &weighFn{newStep(at, common.NewWeighing(scoring.Delivery()))}, weigh(s, job, sketches), gathered)
	} else {
		tasks = exchange(at, scoring.Delivery(), gathered)
	}
	if job.method().Scorer(&job.Parameters).Reads == methods.Texts {
		return sideBySide(at, &passagesFn{newTasks(at, scoring.Passages{
			Threshold: job.Parameters.Threshold, Excerpt: job.Excerpt, Rarity: job.Rarity, Shingle: job.Parameters.Shingle, FirstPart: methods.MostParts(job.Parameters.Shards),
		})}, tasks)
	}
	return sideBySide(at, &scoreFn{newTasks(at, scoring.Sets{
		Inputs: job.Inputs, Similarity: job.Similarity, FirstPart: methods.MostParts(job.Parameters.Shards), PlaceBytes: job.PlaceBytes,
	})}, tasks)
}

// weighFn lists the shingles that are not rare, and makes the tasks that score.
type weighFn struct{ stepFn[common.Weighing] }

type scoreFn struct{ taskFn[scoring.Sets] }

// passagesFn finds the passages that the pairs of a place have in common.
type passagesFn struct{ taskFn[scoring.Passages] }

type heapFn struct{ taskFn[scoring.Heaps] }
