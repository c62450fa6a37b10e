package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/settle/clusters"
)

func init() {
	beam.RegisterDoFn(&sourceFn{})
}

// Source counts the documents that have each value of the field of sources: PCollection<[]byte> of fingerprint outcomes
// to one of outcomes with the values that most documents have. Only jobs with such a field have this stage.
func Source(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("source")
	counting := clusters.SourceCounting{}
	return sideBySide(s, &sourceFn{Work: counting, bundle: job.bundle()}, exchange(s, job, counting.Delivery(), sketches))
}

var sourceStage = newStage(work.Source)

// sourceFn counts the documents of the values of a range of hashes.
type sourceFn struct {
	Work clusters.SourceCounting

	bundle
}

func (f *sourceFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, sourceStage, element, &f.Work)
}
