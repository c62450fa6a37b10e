package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/work"
)

// Common counts which shingles very many documents have; see [common]. It counts twice. It takes the outcomes of
// Fingerprint, PCollection<[]byte>, and returns one of the tasks that have found them.
func Common(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Stripping.Kept.Fingerprints}
	counting := common.Counting{Law: job.Common}
	first := job.stage(s, work.Common)
	second := first.part("again")

	seen := sideBySide(first, &seeFn{newTasks(first, seeing)}, exchange(first, job.whole(common.FirstRound), sketches))
	count := first.part("count")
	frequent := sideBySide(count, &countSeenFn{newTasks(count, counting)},
		exchange(count, common.SeenDelivery(), seen, sketches))

	tasks := plan(second, &frequentFn{newStep(second, common.NewListing(job.whole(common.SecondRound)))}, frequent,
		sketches)
	seen = sideBySide(second, &seeAgainFn{newTasks(second, seeing)}, tasks)
	count = second.part("count")
	return sideBySide(count, &countAgainFn{newTasks(count, counting)},
		exchange(count, common.SeenDelivery(), seen, sketches))
}

// weigh counts how many documents have each shingle, from the outcomes of Fingerprint, and returns the outcomes of the
// tasks that have found the shingles that are not rare.
func weigh(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Common).part("weigh")
	count := at.part("count")
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Fingerprinting.Kept.Fingerprints}
	seen := sideBySide(at, &seeSequencesFn{newTasks(at, seeing)},
		exchange(at, common.WholeDelivery(common.FirstRound, false), sketches))
	counting := common.Counting{Law: common.BeyondPairs()}
	return sideBySide(count, &countSequencesFn{newTasks(count, counting)}, exchange(count, common.SeenDelivery(), seen))
}

func init() {
	declare(&seeFn{}, &seeAgainFn{}, &seeSequencesFn{}, &countSeenFn{}, &countAgainFn{}, &countSequencesFn{},
		&frequentFn{})
}

type (
	seeFn            struct{ taskFn[common.Seeing] }
	seeAgainFn       struct{ taskFn[common.Seeing] }
	seeSequencesFn   struct{ taskFn[common.Seeing] }
	countSeenFn      struct{ taskFn[common.Counting] }
	countAgainFn     struct{ taskFn[common.Counting] }
	countSequencesFn struct{ taskFn[common.Counting] }
	frequentFn       struct{ stepFn[common.Listing] }
)
