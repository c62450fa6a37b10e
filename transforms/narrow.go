package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/incremental/narrowing"
	"mirrorbeam.dev/internal/work"
)

// Narrow leaves out the documents of unchanged files that can be in no pair; see [narrowing]. Only a scheduled job that
// knows the pairs of its last run has this stage.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, and returns outcomes with the sketch blocks of the other
// documents.
func Narrow(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Narrow)
	filter := at.part("filter")
	step := &filterFn{tellingFn[narrowing.Planning]{newStep(filter, narrowing.Planning{
		Method:      job.Method,
		Parameters:  job.Parameters,
		AuditSample: job.auditSample(),
		IsStripped:  job.IsStripped,
	})}}
	tasks, counts := beam.ParDo2(filter.Scope, step, together(filter, sketches))
	narrowed := sideBySide(at, &narrowFn{newTasks(at, narrowing.Narrowing{
		Method:      job.Method,
		Parameters:  job.Parameters,
		AuditSample: job.auditSample(),
		Seed:        job.Fingerprinting.Options.Measure.Seed,
	})}, tasks)
	return beam.Flatten(at.Scope, counts, narrowed)
}

func init() { declare(&filterFn{}, &narrowFn{}) }

// filterFn makes a filter of what is new, and the tasks that use it. Its outcome has the counts of the corpus.
type filterFn struct {
	tellingFn[narrowing.Planning]
}

// narrowFn leaves documents of a split out.
type narrowFn struct{ taskFn[narrowing.Narrowing] }
