package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/work"
)

// Source counts the documents that have each value of the field of sources: PCollection<[]byte> of fingerprint outcomes
// to one of outcomes with the values that most documents have. Only jobs with such a field have this stage.
func Source(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Source)
	counting := clusters.SourceCounting{}
	return sideBySide(at, &sourceFn{newTasks(at, counting)}, exchange(at, counting.Delivery(), sketches))
}

func init() { declare(&sourceFn{}) }

type sourceFn struct {
	taskFn[clusters.SourceCounting]
}
