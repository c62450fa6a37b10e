package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/methods"
)

func init() {
	beam.RegisterDoFn(&countFn{})
}

// Count counts the documents that have each shingle: PCollection<[]byte> of spread outcomes to one of outcomes with the
// frequencies of shingles. Only methods that need frequencies have this stage.
func Count(s beam.Scope, job *Job, spread beam.PCollection) beam.PCollection {
	s = s.Scope("count")
	return sideBySide(s, &countFn{bundle: job.bundle()}, exchange(s, job, methods.CountNeeds(), spread))
}

var countStage = newStage(work.Count)

// countFn counts the shingles of some ranges.
type countFn struct{ bundle }

func (f *countFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, countStage, element, taskFunc(methods.Count))
}
