package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/incremental/pruning"
	"mirrorbeam.dev/internal/work"
)

// Prune leaves out the documents of unchanged files that can be in no pair; see [pruning]. Only an incremental run that
// knows the pairs of its last run has this stage. It takes the outcomes of Fingerprint, PCollection<[]byte>, and
// returns outcomes with the sketch blocks of the other documents.
func Prune(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Prune)
	filter := at.part("filter")
	of := pruning.Pruning{
		Method:      job.Method,
		Parameters:  job.Parameters,
		AuditSample: job.auditSample(),
		IsStripped:  !job.Common.IsOff(),
		Seed:        job.Fingerprinting.Options.Measure.Seed,
	}
	tasks, counts := beam.ParDo2(filter.Scope, &filterFn{tellingFn[pruning.Pruning]{newStep(filter, of)}},
		together(filter, sketches))
	pruned := sideBySide(at, &pruneFn{newTasks(at, of)}, tasks)
	return beam.Flatten(at.Scope, counts, pruned)
}

func init() { declare(&filterFn{}, &pruneFn{}) }

// filterFn makes a filter of what is new, and the tasks that use it. Its outcome has the counts of the corpus.
type filterFn struct {
	tellingFn[pruning.Pruning]
}

type pruneFn struct{ taskFn[pruning.Pruning] }
