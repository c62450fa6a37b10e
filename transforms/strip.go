package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/common"
)

func init() {
	beam.RegisterDoFn(&seeFn{})
	beam.RegisterDoFn(&seeAgainFn{})
	beam.RegisterDoFn(&countSeenFn{})
	beam.RegisterDoFn(&countAgainFn{})
	beam.RegisterDoFn(&stripFn{})
	beam.RegisterDoFn(&frequentFn{})
	beam.RegisterDoFn(&commonFn{})
}

// Strip takes the shingles that very many documents have out of all sketch blocks; see [common]. It counts twice. If the job
// only counts common shingles, the blocks stay as they are.
//
// If an earlier job has found them, it does not count.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, whose blocks are whole, and returns these with its own, whose
// blocks are stripped.
func Strip(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	strip := s.Scope("strip")
	var tasks beam.PCollection
	if job.KnowsCommon {
		tasks = exchange(strip, job, job.whole(common.FirstRound), sketches)
	} else {
		last := commonFn{frequentFn{Work: common.NewListing(job.whole(common.FirstRound)), planner: job.planner(strip)}}
		last.Work.Stays = true
		tasks = beam.ParDo(strip, &last, together(strip, findCommon(s, job, sketches), sketches))
	}
	stripping := job.Stripping
	stripping.Law, stripping.LeavesSets = job.Common, job.Counts
	stripping.Counts, stripping.Shards = job.HasBoilerplate(), job.Parameters.Shards
	stripped := sideBySide(strip, &stripFn{Work: stripping, bundle: job.bundle()}, tasks)
	return beam.Flatten(s, sketches, stripped)
}

// findCommon counts which shingles are common. It returns the outcomes of the tasks that have found them.
func findCommon(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	seeing := common.Seeing{Shards: job.Parameters.Shards, Fingerprints: job.Stripping.Kept.Fingerprints}
	counting := common.Counting{Law: job.Common}
	first, second := s.Scope("common"), s.Scope("common again")

	seen := sideBySide(first, &seeFn{Work: seeing, bundle: job.bundle()}, exchange(first, job, job.whole(common.FirstRound), sketches))
	count := first.Scope("count")
	frequent := sideBySide(count, &countSeenFn{Work: counting, bundle: job.bundle()}, exchange(count, job, common.SeenDelivery(), seen, sketches))

	again := frequentFn{Work: common.NewListing(job.whole(common.SecondRound)), planner: job.planner(second)}
	tasks := beam.ParDo(second, &again, together(second, frequent, sketches))
	seen = sideBySide(second, &seeAgainFn{seeFn{Work: seeing, bundle: job.bundle()}}, tasks)
	count = second.Scope("count")
	return sideBySide(count, &countAgainFn{countSeenFn{Work: counting, bundle: job.bundle()}}, exchange(count, job, common.SeenDelivery(), seen, sketches))
}

var (
	commonStage = newStage(work.Common)
	stripStage  = newStage(work.Strip)
)

// seeFn writes which document has which shingle. SeeAgainFn does so in the second round. Each has a type of its own for the
// reason of [gatherSetsFn], and so have the next ones.
type seeFn struct {
	Work common.Seeing

	bundle
}

type seeAgainFn struct{ seeFn }

func (f *seeFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, commonStage, element, &f.Work)
}

// countSeenFn finds the frequent shingles of a range of hashes, and countAgainFn does so in the second round.
type countSeenFn struct {
	Work common.Counting

	bundle
}

type countAgainFn struct{ countSeenFn }

func (f *countSeenFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, commonStage, element, &f.Work)
}

// frequentFn lists the frequent shingles and makes the tasks of the second round. CommonFn lists those of the second round,
// and makes the tasks that strip.
type frequentFn struct {
	Work common.Listing

	planner
}

type commonFn struct{ frequentFn }

func (f *frequentFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, commonStage, elements, emit, f.Work.Plan)
	return err
}

// stripFn strips the documents of a split.
type stripFn struct {
	Work common.Stripping

	bundle
}

func (f *stripFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, stripStage, element, &f.Work)
}
