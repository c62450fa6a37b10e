package transforms

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/audit/auditing"
	"mirrorbeam.dev/internal/work"
)

// Audit samples documents of the input, and counts common shingles to find all their partners in a share of the corpus.
// Cluster then checks which of these pairs the job has found. It takes the outcomes of Fingerprint, whose run files
// hold the sample, and of Prune, if any, PCollection<[]byte>, and returns outcomes with the pairs.
func Audit(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Audit)
	audit := auditing.Audit{
		Inputs:      job.Inputs,
		Threshold:   job.Parameters.Threshold,
		Sample:      job.auditSample(),
		SampleBytes: job.SampleBytes,
		IsPruned:    job.Parameters.Pruned,
		Seed:        job.Fingerprinting.Options.Measure.Seed,
	}
	return sideBySide(at, &auditFn{newTasks(at, audit)}, plan(at, &auditPlanFn{newStep(at, audit)}, sketches))
}

// auditSample returns about how many documents the audit samples, 0 for none. Either of two stages sets them aside.
func (j *Job) auditSample() int { return max(j.Fingerprinting.AuditSample, j.Stripping.AuditSample) }

func init() { declare(&auditPlanFn{}, &auditFn{}) }

// auditPlanFn draws the sample, and auditFn looks for partners in a split.
type (
	auditPlanFn struct{ stepFn[auditing.Audit] }
	auditFn     struct{ taskFn[auditing.Audit] }
)
