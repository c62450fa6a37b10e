package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/documents"
)

func init() {
	beam.RegisterDoFn(&fingerprintFn{})
}

// Fingerprint reads the documents of the splits and writes their sketch blocks
// and the rejects: PCollection<[]byte> of tasks to one of outcomes.
func Fingerprint(s beam.Scope, job *Job, splits beam.PCollection) beam.PCollection {
	s = s.Scope("fingerprint")
	fingerprinting := job.Fingerprinting
	fingerprinting.Shards = job.Parameters.Shards
	return sideBySide(s, &fingerprintFn{Work: fingerprinting, bundle: job.bundle()}, splits)
}

var fingerprintStage = newStage(work.Fingerprint)

type fingerprintFn struct {
	Work documents.Fingerprinting

	bundle
}

func (f *fingerprintFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, fingerprintStage, element, &f.Work)
}
