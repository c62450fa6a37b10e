package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/incremental/pruning"
	"mirrorbeam.dev/internal/work"
)

// Prune leaves out the documents of unchanged files that can be in no pair; see [pruning]. Only a scheduled job that
// knows the pairs of its last run has this stage.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, and returns outcomes with the sketch blocks of the other
// documents.
func Prune(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Prune)
	filter := at.part("filter")
	step := &filterFn{tellingFn[pruning.Planning]{newStep(filter, pruning.Planning{
		Method:      job.Method,
		Parameters:  job.Parameters,
		AuditSample: job.auditSample(),
		IsStripped:  job.IsStripped,
	})}}
	tasks, counts := beam.ParDo2(filter.Scope, step, together(filter, sketches))
	pruned := sideBySide(at, &pruneFn{newTasks(at, pruning.Pruning{
		Method:      job.Method,
		Parameters:  job.Parameters,
		AuditSample: job.auditSample(),
		Seed:        job.Fingerprinting.Options.Measure.Seed,
	})}, tasks)
	return beam.Flatten(at.Scope, counts, pruned)
}

func init() { declare(&filterFn{}, &pruneFn{}) }

// filterFn makes a filter of what is new, and the tasks that use it. Its outcome has the counts of the corpus.
type filterFn struct {
	tellingFn[pruning.Planning]
}

// pruneFn leaves documents of a split out.
type pruneFn struct{ taskFn[pruning.Pruning] }
