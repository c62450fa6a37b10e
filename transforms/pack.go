package transforms

import (
	"context"
	"errors"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/start/packing"
)

func init() {
	beam.RegisterDoFn(&packFn{})
	beam.RegisterDoFn(&rangeFn{})
	beam.RegisterDoFn(&divideFn{})
	beam.RegisterDoFn(&arrangeFn{})
	beam.RegisterDoFn(&listFn{})
	beam.RegisterDoFn(&unpackRejectsFn{})
	register.Emitter1[Reject]()
}

// pack writes documents to files in the order of their ids and makes these files the inputs of a job: PCollection<Document>
// to one of the tasks that read the splits, PCollection<[]byte>, and to the documents that cannot be compared,
// PCollection<Reject>.
func pack(s beam.Scope, job *Job, documents beam.PCollection, list packing.Listing) (splits, rejects beam.PCollection) {
	s = s.Scope("pack")
	packer := packing.Packer{Runs: job.Runs, MaxDocument: int64(list.MaxDocument)}
	packed, refused := beam.ParDo2(s, &packFn{Work: packer}, documents)
	ranges := beam.ParDo(s.Scope("range"), &rangeFn{planner: job.planner(s.Scope("range"))}, together(s.Scope("range"), packed))
	divided := sideBySide(s.Scope("divide"), &divideFn{bundle: job.bundle()}, ranges)
	arranging := packing.Arranging{Folder: job.Runs.Folder}
	arranged := sideBySide(s.Scope("arrange"), &arrangeFn{Work: arranging, bundle: job.bundle()}, exchange(s, job, arranging.Delivery(), divided))
	splits = beam.ParDo(s.Scope("list"), &listFn{Work: list, planner: job.planner(s.Scope("list"))}, together(s.Scope("list"), arranged))
	return splits, beam.Flatten(s, refused, beam.ParDo(s, &unpackRejectsFn{Folder: job.Runs.Folder}, arranged))
}

var packStage = newStage(work.Pack)

// packFn writes the documents of a bundle into a run file. It alone gets an element for each document.
type packFn struct {
	Work packing.Packer

	begun time.Time
}

func (f *packFn) ProcessElement(_ context.Context, d Document, _ func([]byte), reject func(Reject)) error {
	if f.begun.IsZero() {
		f.begun = time.Now()
	}
	if reason := f.Work.Refuse(d.ID, d.Text); reason != "" {
		reject(Reject{d.ID, reason})
		return nil
	}
	return faultOf("pack", f.Work.Add(d.ID, d.Text))
}

// FinishBundle emits the outcome of the bundle.
func (f *packFn) FinishBundle(ctx context.Context, emit func([]byte), _ func(Reject)) error {
	o, figures, err := f.Work.Close()
	if err != nil {
		return faultOf("pack", err)
	}
	figures.Begun, figures.Ended, f.begun = f.begun, time.Now(), time.Time{}
	if o.Run == "" {
		return nil
	}
	packStage.count(ctx, figures)
	element, err := o.Encode()
	if err == nil {
		emit(element)
	}
	return err
}

// Teardown drops the run file of a bundle that failed.
func (f *packFn) Teardown() { f.Work.Abort() }

// rangeFn cuts the ids into ranges.
type rangeFn struct {
	Work packing.Ranging

	planner
}

func (f *rangeFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, packStage, elements, emit, f.Work.Plan)
	return err
}

// divideFn sends the documents of some bundles to the ranges of their ids.
type divideFn struct {
	Work packing.Dividing

	bundle
}

func (f *divideFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, packStage, element, &f.Work)
}

// arrangeFn writes the documents of a range to a file.
type arrangeFn struct {
	Work packing.Arranging

	bundle
}

func (f *arrangeFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, packStage, element, &f.Work)
}

// listFn makes the files the inputs of a job.
type listFn struct {
	Work packing.Listing

	planner
}

func (f *listFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, packStage, elements, emit, f.Work.Plan)
	return err
}

// unpackRejectsFn emits the documents that share their id with another one.
type unpackRejectsFn struct {
	// Folder is the folder of the files.
	Folder work.Path
}

func (f *unpackRejectsFn) ProcessElement(ctx context.Context, element []byte, emit func(Reject)) error {
	o, err := work.DecodeOutcome(element)
	return faultOf("unpack", errors.Join(err, packing.EachRejected(ctx, f.Folder, o, func(r packing.Rejected) {
		emit(Reject{r.ID, r.Reason})
	})))
}
