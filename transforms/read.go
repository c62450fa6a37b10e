package transforms

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/work"
)

// Read makes a task for every split of the inputs: PCollection<[]byte>.
func Read(s beam.Scope, job *Job) beam.PCollection {
	s = s.Scope(string(work.Read))
	return beam.ParDo(s, &readFn{Inputs: job.Inputs, Runs: job.Runs}, beam.Impulse(s))
}

func init() { declare(&readFn{}) }

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
