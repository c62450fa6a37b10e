package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"mirrorbeam.dev/internal/incremental/cached"

	"mirrorbeam.dev/internal/pairs/gathering"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/pairs/scoring"
	"mirrorbeam.dev/internal/work"
)

// Group brings the documents of a key together. It finds the candidate pairs, which form a part of the candidate graph
// for each shard; the stars of identical documents; and the documents that share an id. An oversized group waits until
// all of them are known, if the method has any. The corpus bounds the pairs of oversized groups that are compared, the
// smallest groups first. Documents of larger, dense groups may be scored in hot groups. It takes the outcomes of Key
// and Fingerprint, PCollection<[]byte> each, and returns one of outcomes.
func Group(s beam.Scope, job *Job, keys, sketches beam.PCollection) beam.PCollection {
	at, method := job.stage(s, work.Group), job.method
	grouping := methods.Grouping{Method: job.Method, Parameters: job.Parameters}
	records := []beam.PCollection{keys}
	if job.Parameters.Pruned {
		records = append(records, sketches) // which have the ids of the documents that were left out
	}
	found := sideBySide(at, &groupFn{newTasks(at, grouping)}, exchange(at, method.GroupNeeds(), records...))
	if job.Parameters.HasPairs() {
		at := at.part("known")
		known := cached.Pairs{
			Inputs:      job.Inputs,
			CachedPairs: job.Parameters.CachedPairs,
			Shards:      job.Parameters.Shards,
		}
		if job.scorer.IsDistance {
			known.SimHashBits = job.Parameters.SimHashBits
		}
		found = beam.Flatten(s, found,
			sideBySide(at, &knownFn{newTasks(at, known)}, exchange(at, cached.Delivery(), sketches)))
	}
	if job.Parameters.Pruned && job.scorer.Reads == methods.Texts {
		at := at.part("kept")
		kept := cached.Passages{Inputs: job.Inputs, Pairs: job.Parameters.Paired, Shards: job.Parameters.Shards}
		found = beam.Flatten(s, found,
			sideBySide(at, &keptFn{newTasks(at, kept)}, exchange(at, cached.Delivery(), sketches)))
	}
	if method.OversizedGroups == methods.NeverWait {
		return found
	}
	oversizedGroups := at.part("oversized")
	tasks := plan(oversizedGroups, &oversizedFn{newStep(oversizedGroups, method.Oversized(job.Parameters.Bounds))},
		keys, sketches, found)
	found = beam.Flatten(s, found,
		sideBySide(oversizedGroups, &groupOversizedFn{newTasks(oversizedGroups, grouping)}, tasks))
	if method.OversizedGroups != methods.ToHotGroups {
		return found
	}
	return beam.Flatten(s, found, hotGroups(s, job, found, sketches))
}

// hotGroups gathers and scores the hot groups: it takes the outcomes of the groups and of Fingerprint,
// PCollection<[]byte> each, and returns one of outcomes with edges and stars. A hot group has too many pairs to compare
// them all. So its documents come to one place, in their order of preference, and are compared with a few pivots.
func hotGroups(s beam.Scope, job *Job, grouped, sketches beam.PCollection) beam.PCollection {
	gather, score := job.stage(s, work.Gather).part("hotgroups"), job.stage(s, work.Score).part("hotgroups")
	joining := gathering.HotGroups{Inputs: job.Inputs, PlaceBytes: job.PlaceBytes, GraphBytes: job.GraphBytes}
	tasks, joined := beam.ParDo2(gather.Scope, &joinFn{tellingFn[gathering.HotGroups]{newStep(gather, joining)}},
		together(gather, grouped, sketches))
	sets := sideBySide(gather, &gatherHotGroupsFn{newTasks(gather, gathering.Sending{Inputs: job.Inputs})}, tasks)
	scored := sideBySide(score, &hotGroupFn{newTasks(score, scoring.HotGroups{
		Inputs:      job.Inputs,
		Similarity:  job.Similarity,
		FirstPart:   groups.MostParts(job.Parameters.Shards),
		ListedPairs: job.Parameters.Bounds.Group,
	})}, exchange(score, scoring.HotGroupsDelivery(), joined, sets))
	return beam.Flatten(s, joined, sets, scored)
}

func init() { declare(&groupFn{}, &groupOversizedFn{}, &knownFn{}, &keptFn{}, &oversizedFn{}) }

type (
	groupFn          struct{ taskFn[methods.Grouping] }
	groupOversizedFn struct{ taskFn[methods.Grouping] }
	knownFn          struct{ taskFn[cached.Pairs] }
	keptFn           struct{ taskFn[cached.Passages] }
	oversizedFn      struct{ stepFn[groups.OversizedGroups] }
)
