package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/settle/boilerplate"
)

func init() {
	beam.RegisterDoFn(&sumSeenFn{})
	beam.RegisterDoFn(&findPassagesFn{})
	beam.RegisterDoFn(&writePassagesFn{})
	beam.RegisterDoFn(&holdersFn{})
}

// Boilerplate writes the passages that very many documents have: PCollection<[]byte> of the outcomes of Strip to those of its
// own tasks.
func Boilerplate(s beam.Scope, job *Job, sketches beam.PCollection) []beam.PCollection {
	s = s.Scope("boilerplate")
	find, write := s.Scope("find"), s.Scope("write")
	summed := sideBySide(s, &sumSeenFn{bundle: job.bundle()}, exchange(s, job, boilerplate.SummingDelivery(), sketches))

	listing := holdersFn{frequentFn{Work: boilerplate.NewListing(), planner: job.planner(find)}}
	finding := boilerplate.Finding{Inputs: job.Inputs, Sketching: job.Fingerprinting.Sketching, Counts: job.Counts}
	found := sideBySide(find, &findPassagesFn{Work: finding, bundle: job.bundle()}, beam.ParDo(find, &listing, together(find, summed)))

	writing := boilerplate.Writing{Files: job.Rows.Files}
	written := sideBySide(write, &writePassagesFn{Work: writing, bundle: job.bundle()}, exchange(write, job, boilerplate.WritingDelivery(), found))
	return []beam.PCollection{summed, found, written}
}

var boilerplateStage = newStage(work.Boilerplate)

// sumSeenFn counts the documents that have each shingle of a range of hashes.
type sumSeenFn struct{ bundle }

func (f *sumSeenFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, boilerplateStage, element, taskFunc(boilerplate.Summing))
}

// holdersFn lists the common shingles, and makes the tasks that read documents again.
type holdersFn struct{ frequentFn }

func (f *holdersFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, boilerplateStage, elements, emit, f.Work.Plan)
	return err
}

// findPassagesFn makes the passages of documents of a split.
type findPassagesFn struct {
	Work boilerplate.Finding

	bundle
}

func (f *findPassagesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, boilerplateStage, element, &f.Work)
}

// writePassagesFn writes the rows.
type writePassagesFn struct {
	Work boilerplate.Writing

	bundle
}

func (f *writePassagesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, boilerplateStage, element, &f.Work)
}
