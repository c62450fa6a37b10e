package transforms

import (
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&fingerprintFn{})
}

// Fingerprint reads the documents of the splits and writes their sketch blocks
// and the rejects: PCollection<[]byte> of tasks to one of outcomes.
func Fingerprint(s beam.Scope, job Job, splits beam.PCollection) beam.PCollection {
	s = s.Scope("fingerprint")
	return sideBySide(s, &fingerprintFn{Work: job.fingerprinting(), bundle: newBundle(job)}, splits)
}

var fingerprintStage = newStage(work.Fingerprint)

type fingerprintFn struct {
	Work documents.Fingerprinting

	bundle
}

func (f *fingerprintFn) Setup() error { return f.Work.Setup() }

func (f *fingerprintFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, fingerprintStage, element, f.Work.Task)
}

// Sketching returns how the job reads records and what it makes of them.
func (j *Job) Sketching() documents.Sketching {
	return documents.Sketching{
		Reading: documents.Reading{Fields: j.Fields, MaxDocument: j.MaxDocument, WindowBytes: j.WindowBytes},
		Options: sketch.Options{
			Measure: j.Measure, Normalization: j.Normalization, Weights: j.Weights,
			StopWordUse: j.StopWordUse, SimHashBits: j.SimHashBits,
		},
	}
}

// fingerprinting returns the parameters of the stage.
func (j *Job) fingerprinting() documents.Fingerprinting {
	kept := documents.Kept{
		Scheme: j.Scheme, Sets: documents.AllHashes,
		Sequences: j.Method().Reads&methods.ReadsSequences != 0, ExcludeQuotations: j.ExcludeQuotations,
	}
	parameters := j.Parameters()
	isScored := j.Method().Scorer(&parameters) != methods.NoScorer
	switch {
	case !isScored && !slices.Contains(j.Emit, output.Sketches):
		kept.Sets = documents.NoHashes // nobody reads them
	case j.Verify != methods.VerifyExact || !isScored:
		kept.Sets = documents.SmallestHashes
	}
	return documents.Fingerprinting{
		Sketching: j.Sketching(), Inputs: work.Path(j.Inputs), Kept: kept,
		Checksums: slices.Contains(j.Emit, output.Unique), AuditSample: j.AuditSample,
	}
}
