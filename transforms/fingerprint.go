package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/clusters"
)

// Fingerprint reads the documents of the splits and writes their sketch blocks
// and the rejects: PCollection<[]byte> of tasks to one of outcomes.
func Fingerprint(s beam.Scope, job *Job, splits beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Fingerprint)
	fingerprinting := job.Fingerprinting
	fingerprinting.Shards = job.Parameters.Shards
	return sideBySide(at, &fingerprintFn{newTasks(at, fingerprinting)}, splits)
}

type fingerprintFn struct {
	taskFn[documents.Fingerprinting]
}

// Read makes a task for every split of the inputs: PCollection<[]byte>.
func Read(s beam.Scope, job *Job) beam.PCollection {
	s = s.Scope(string(work.Read))
	return beam.ParDo(s, &readFn{Inputs: job.Inputs, Runs: job.Runs}, beam.Impulse(s))
}

type readFn struct {
	Inputs work.Path // path of the list of inputs
	Runs   work.Runs
}

func (f *readFn) ProcessElement(ctx context.Context, _ []byte, emit func([]byte)) error {
	inputs, err := documents.OpenInputs(string(f.Inputs))
	if err != nil {
		return work.MarkFault(fmt.Errorf("read: %w", err))
	}
	expect(ctx, f.Runs, work.Fingerprint, len(inputs.Splits))
	for number := range inputs.Splits {
		emit(work.Task{Number: number}.Encode())
	}
	return nil
}

// Source counts the documents that have each value of the field of sources: PCollection<[]byte> of fingerprint outcomes
// to one of outcomes with the values that most documents have. Only jobs with such a field have this stage.
func Source(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Source)
	counting := clusters.SourceCounting{}
	return sideBySide(at, &sourceFn{newTasks(at, counting)}, exchange(at, counting.Delivery(), sketches))
}

// sourceFn counts the documents of the values of a range of hashes.
type sourceFn struct {
	taskFn[clusters.SourceCounting]
}
