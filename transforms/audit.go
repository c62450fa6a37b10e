package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/recall"
)

func init() {
	beam.RegisterDoFn(&auditPlanFn{})
	beam.RegisterDoFn(&auditFn{})
}

// Audit samples documents of the input. It counts common shingles to find all their partners in a share of the corpus.
// Cluster then checks which of these pairs the job has found.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, whose run files hold the sample, and returns one of
// outcomes with the pairs.
func Audit(s beam.Scope, job *Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("audit")
	audit := recall.Audit{Inputs: job.Inputs, Threshold: job.Parameters.Threshold, Sample: job.auditSample()}
	tasks := beam.ParDo(s, &auditPlanFn{Work: audit, planner: job.planner(s)}, together(s, sketches))
	return sideBySide(s, &auditFn{Work: audit, bundle: job.bundle()}, tasks)
}

// auditSample returns about how many documents the audit samples, 0 for none. Either of two stages sets them aside.
func (j *Job) auditSample() int { return max(j.Fingerprinting.AuditSample, j.Stripping.AuditSample) }

var auditStage = newStage(work.Audit)

// auditPlanFn draws the sample and makes the tasks that look for partners in each split.
type auditPlanFn struct {
	Work recall.Audit

	planner
}

func (f *auditPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, auditStage, elements, emit, after(f.Work.Setup, f.Work.Plan))
	return err
}

// auditFn finds the partners of the sampled documents in a split.
type auditFn struct {
	Work recall.Audit

	bundle
}

func (f *auditFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, auditStage, element, &f.Work)
}
