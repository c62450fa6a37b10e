package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/settle/boilerplate"
)

// Common counts which shingles very many documents have; see [common]. It counts twice. It takes the outcomes of Fingerprint,
// PCollection<[]byte>, and returns one of the tasks that have found them.
func Common(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Stripping.Kept.Fingerprints}
	counting := common.Counting{Law: job.Common}
	first := job.stage(s, work.Common)
	second := first.part("again")

	seen := sideBySide(first, &seeFn{newTasks(first, seeing)}, exchange(first, job.whole(common.FirstRound), sketches))
	count := first.part("count")
	frequent := sideBySide(count, &countSeenFn{newTasks(count, counting)}, exchange(count, common.SeenDelivery(), seen, sketches))

	tasks := plan(second, &frequentFn{newStep(second, common.NewListing(job.whole(common.SecondRound)))}, frequent, sketches)
	seen = sideBySide(second, &seeAgainFn{newTasks(second, seeing)}, tasks)
	count = second.part("count")
	return sideBySide(count, &countAgainFn{newTasks(count, counting)}, exchange(count, common.SeenDelivery(), seen, sketches))
}

// weigh counts how many documents have each shingle, from the outcomes of Fingerprint, and returns the outcomes of the tasks that
// have found the shingles that are not rare.
func weigh(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Common).part("weigh")
	count := at.part("count")
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Fingerprinting.Kept.Fingerprints}
	seen := sideBySide(at, &seeSequencesFn{newTasks(at, seeing)}, exchange(at, common.WholeDelivery(common.FirstRound, false), sketches))
	counting := common.Counting{Law: common.BeyondPairs()}
	return sideBySide(count, &countSequencesFn{newTasks(count, counting)}, exchange(count, common.SeenDelivery(), seen))
}

// These write which document has which shingle.
type (
	seeFn          struct{ taskFn[common.Seeing] }
	seeAgainFn     struct{ taskFn[common.Seeing] }
	seeSequencesFn struct{ taskFn[common.Seeing] }
)

// These find the frequent shingles of a range of hashes.
type (
	countSeenFn      struct{ taskFn[common.Counting] }
	countAgainFn     struct{ taskFn[common.Counting] }
	countSequencesFn struct{ taskFn[common.Counting] }
)

// frequentFn lists the frequent shingles and makes the tasks of the second round.
type frequentFn struct{ stepFn[common.Listing] }

// Strip takes the shingles that very many documents have out of all sketch blocks. If the job only counts common shingles,
// the blocks stay as they are. If an earlier job has found them, it does not count.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, whose blocks are whole, and returns these with its own, whose
// blocks are stripped.
func Strip(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Strip)
	var tasks beam.PCollection
	if job.KnowsCommon {
		tasks = exchange(at, job.whole(common.FirstRound), sketches)
	} else {
		last := common.NewListing(job.whole(common.FirstRound))
		last.Stays = true
		tasks = plan(at, &commonFn{newStep(at, last)}, Common(s, job, sketches), sketches)
	}
	stripping := job.Stripping
	stripping.Law, stripping.LeavesSets = job.Common, job.Counts
	stripping.Counts, stripping.Shards = job.HasBoilerplate(), job.Parameters.Shards
	return beam.Flatten(s, sketches, sideBySide(at, &stripFn{newTasks(at, stripping)}, tasks))
}

// commonFn lists the common shingles and makes the tasks that strip.
type commonFn struct{ stepFn[common.Listing] }

type stripFn struct{ taskFn[common.Stripping] }

// Boilerplate writes the passages that very many documents have: PCollection<[]byte> of the outcomes of Strip to the outcomes of its
// own tasks.
func Boilerplate(s beam.Scope, job *Job, sketches beam.PCollection) []beam.PCollection {
	at := job.stage(s, work.Boilerplate)
	find, write := at.part("find"), at.part("write")
	summed := sideBySide(at, &sumSeenFn{newTasks(at, summing{})}, exchange(at, boilerplate.SummingDelivery(), sketches))

	finding := boilerplate.Finding{Inputs: job.Inputs, Sketching: job.Fingerprinting.Sketching, Counts: job.Counts}
	found := sideBySide(find, &findPassagesFn{newTasks(find, finding)}, plan(find, &holdersFn{newStep(find, boilerplate.NewListing())}, summed))

	writing := boilerplate.Writing{Files: job.Rows.Files}
	written := sideBySide(write, &writePassagesFn{newTasks(write, writing)}, exchange(write, boilerplate.WritingDelivery(), found))
	return []beam.PCollection{summed, found, written}
}

// sumSeenFn counts the documents that have each shingle of a range of hashes.
type sumSeenFn struct{ taskFn[summing] }

type summing struct{}

func (*summing) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	return boilerplate.Summing(ctx, t, w)
}

// holdersFn lists the common shingles, and makes the tasks that read documents again.
type holdersFn struct{ stepFn[common.Listing] }

type findPassagesFn struct{ taskFn[boilerplate.Finding] }

type writePassagesFn struct{ taskFn[boilerplate.Writing] }
