package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/settle/boilerplate"
)

// Boilerplate finds the passages that very many documents have: PCollection<[]byte> of the outcomes of Strip to the
// outcomes of its own tasks. The last ones come from the tasks that find them.
func Boilerplate(s beam.Scope, job *Job, sketches beam.PCollection) []beam.PCollection {
	at := job.stage(s, work.Boilerplate)
	find := at.part("find")
	summed := sideBySide(at, &sumSeenFn{newTasks(at, summing{})}, exchange(at, boilerplate.SummingDelivery(), sketches))

	finding := boilerplate.Finding{Inputs: job.Inputs, Sketching: job.Fingerprinting.Sketching, Counts: job.Counts}
	found := sideBySide(find, &findPassagesFn{newTasks(find, finding)},
		plan(find, &holdersFn{newStep(find, boilerplate.NewListing())}, summed))
	return []beam.PCollection{summed, found}
}

// WriteBoilerplate writes the passages that Boilerplate has found: PCollection<[]byte> of its last outcomes to one of
// the outcome with the file. The outcomes of Strip and Cluster say how rows call documents.
func WriteBoilerplate(s beam.Scope, job *Job, found, sketches, clusters beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Boilerplate).part("write")
	writing := boilerplate.Writing{Files: job.Rows.Files}
	return sideBySide(at, &writePassagesFn{newTasks(at, writing)},
		exchange(at, boilerplate.WritingDelivery(), found, sketches, clusters))
}

func init() { declare(&sumSeenFn{}, &holdersFn{}, &findPassagesFn{}, &writePassagesFn{}) }

// sumSeenFn counts the documents that have each shingle of a range of hashes.
type sumSeenFn struct{ taskFn[summing] }

type summing struct{}

func (*summing) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	return boilerplate.Summing(ctx, t, w)
}

// holdersFn lists the common shingles, and makes the tasks that read documents again.
type holdersFn struct{ stepFn[common.Listing] }

// findPassagesFn makes the passages of documents of a split.
type findPassagesFn struct{ taskFn[boilerplate.Finding] }

type writePassagesFn struct{ taskFn[boilerplate.Writing] }
