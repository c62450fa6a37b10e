package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/pairs/scoring"
	"mirrorbeam.dev/internal/work"
)

// Score computes the similarity of the pairs of each place and keeps pairs at or above the threshold as edges. It takes
// gather outcomes, PCollection<[]byte>, and returns outcomes with edges, whose parts have numbers above the parts of
// Group. The outcomes of Fingerprint say how rare passages are, if the job asks that.
func Score(s beam.Scope, job *Job, sketches, gathered beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Score)
	var tasks beam.PCollection
	if job.Rarity > 0 {
		tasks = plan(at, &weighFn{newStep(at, common.NewWeighing(scoring.Delivery()))}, weigh(s, job, sketches),
			gathered)
	} else {
		tasks = exchange(at, scoring.Delivery(), gathered)
	}
	if job.scorer.Reads == methods.Texts {
		return sideBySide(at, &passagesFn{newTasks(at, scoring.Passages{
			Threshold: job.Parameters.Threshold,
			Excerpt:   job.Excerpt,
			Rarity:    job.Rarity,
			Shingle:   job.Parameters.Shingle,
			FirstPart: groups.MostParts(job.Parameters.Shards),
		})}, tasks)
	}
	return sideBySide(at, &scoreFn{newTasks(at, scoring.Sets{
		Inputs:     job.Inputs,
		Similarity: job.Similarity,
		FirstPart:  groups.MostParts(job.Parameters.Shards),
		PairBytes:  job.PairBytes,
		HasPairs:   job.Parameters.HasPairs(),
	})}, tasks)
}

func init() { declare(&weighFn{}, &scoreFn{}, &passagesFn{}, &hotGroupFn{}) }

type (
	weighFn    struct{ stepFn[common.Weighing] }
	scoreFn    struct{ taskFn[scoring.Sets] }
	passagesFn struct{ taskFn[scoring.Passages] }
	hotGroupFn struct{ taskFn[scoring.HotGroups] }
)
