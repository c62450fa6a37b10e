package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/match/scoring"
)

func init() {
	beam.RegisterDoFn(&scoreFn{})
	beam.RegisterDoFn(&passagesFn{})
}

// Score computes the similarity of the pairs of each place and keeps the pairs at or above the threshold as edges:
// PCollection<[]byte> of gather outcomes to one of outcomes with edges. It numbers its parts of the similarity graph
// from those of Group on, which joins identical documents. If the job asks how rare passages are, it counts the shingles of
// the outcomes of Fingerprint.
func Score(s beam.Scope, job *Job, sketches, gathered beam.PCollection) beam.PCollection {
	s = s.Scope("score")
	var tasks beam.PCollection
	if job.Rarity > 0 {
		tasks = weigh(s, job, sketches, gathered)
	} else {
		tasks = exchange(s, job, scoring.Delivery(), gathered)
	}
	if job.method().Scorer(&job.Parameters).Reads == methods.Texts {
		return sideBySide(s, &passagesFn{Work: scoring.Passages{
			Threshold: job.Parameters.Threshold, Excerpt: job.Excerpt, Rarity: job.Rarity, Shingle: job.Parameters.Shingle, FirstPart: methods.MostParts(job.Parameters.Shards),
		}, bundle: job.bundle()}, tasks)
	}
	return sideBySide(s, &scoreFn{Work: scoring.Sets{
		Inputs: job.Inputs, Similarity: job.Similarity, FirstPart: methods.MostParts(job.Parameters.Shards), PlaceBytes: job.PlaceBytes,
	}, bundle: job.bundle()}, tasks)
}

var scoreStage = newStage(work.Score)

// scoreFn scores the pairs of a place, or all pairs of blocks.
type scoreFn struct {
	Work scoring.Sets

	bundle
}

func (f *scoreFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, scoreStage, element, &f.Work)
}

// passagesFn finds the passages that the pairs of a place have in common.
type passagesFn struct {
	Work scoring.Passages

	bundle
}

func (f *passagesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, scoreStage, element, &f.Work)
}
