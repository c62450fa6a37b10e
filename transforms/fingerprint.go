package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/work"
)

// Fingerprint reads the documents of the splits and writes their sketch blocks and the rejects.
func Fingerprint(s beam.Scope, job *Job, splits beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Fingerprint)
	fingerprinting := job.Fingerprinting
	fingerprinting.Shards = job.Parameters.Shards
	return sideBySide(at, &fingerprintFn{newTasks(at, fingerprinting)}, splits)
}

func init() { declare(&fingerprintFn{}) }

type fingerprintFn struct {
	taskFn[documents.Fingerprinting]
}
