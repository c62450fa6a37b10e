package transforms

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/transforms/packing"
)

func init() {
	register.Emitter1[Reject]()
}

// pack writes documents to files in the order of their ids and makes these files the inputs of a job. It returns the
// tasks that read the splits, and the documents that cannot be compared.
func pack(s beam.Scope, job *Job, documents beam.PCollection, list packing.Listing) (splits, rejects beam.PCollection) {
	at := job.stage(s, work.Pack)
	cut, divide, arrange, join := at.part("range"), at.part("divide"), at.part("arrange"), at.part("list")
	packer := packing.Packer{Runs: job.Runs, MaxDocument: int64(list.MaxDocument)}
	packed, refused := beam.ParDo2(at.Scope, &packFn{Work: packer}, documents)
	divided := sideBySide(divide, &divideFn{newTasks(divide, packing.Dividing{})},
		plan(cut, &rangeFn{newStep(cut, packing.Ranging{})}, packed))
	arranging := packing.Arranging{Folder: job.Runs.Folder}
	arranged := sideBySide(arrange, &arrangeFn{newTasks(arrange, arranging)},
		exchange(at, arranging.Delivery(), divided))
	splits = plan(join, &listFn{newStep(join, list)}, arranged)
	return splits, beam.Flatten(at.Scope, refused,
		beam.ParDo(at.Scope, &unpackRejectsFn{Folder: job.Runs.Folder}, arranged))
}

func init() {
	declare(&packFn{}, &rangeFn{}, &divideFn{}, &arrangeFn{}, &listFn{}, &unpackRejectsFn{}, &unpackFn{})
}

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

func (f *packFn) FinishBundle(ctx context.Context, emit func([]byte), _ func(Reject)) error {
	o, figures, err := f.Work.Close()
	if err != nil {
		return faultOf("pack", err)
	}
	figures.Begun, figures.Ended, f.begun = f.begun, time.Now(), time.Time{}
	if o.Run == "" {
		return nil
	}
	count(ctx, work.Pack, figures)
	element, err := o.Encode()
	if err == nil {
		emit(element)
	}
	return err
}

// Teardown drops the run file of a bundle that failed.
func (f *packFn) Teardown() { f.Work.Abort() }

type (
	rangeFn   struct{ stepFn[packing.Ranging] }
	divideFn  struct{ taskFn[packing.Dividing] }
	arrangeFn struct{ taskFn[packing.Arranging] }
	listFn    struct{ stepFn[packing.Listing] }
)

// unpackRejectsFn emits the documents that share their id with another one.
type unpackRejectsFn struct {
	Folder work.Path
}

func (f *unpackRejectsFn) ProcessElement(ctx context.Context, element []byte, emit func(Reject)) error {
	o, err := work.DecodeOutcome(element)
	return faultOf("unpack",
		errors.Join(err, packing.EachRow(ctx, f.Folder, o, packing.Repeated, func(r packing.Rejected) {
			emit(Reject{quoting.Original(r.ID), r.Reason})
		})))
}

func init() {
	register.Emitter1[Member]()
	register.Emitter1[Pair]()
}

// unpack reads the rows of a job back, from the outcomes that name them: PCollection<Member> and PCollection<Pair>.
func unpack(s beam.Scope, job *Job, written beam.PCollection) (members, pairs beam.PCollection) {
	s = s.Scope(string(work.Unpack))
	return beam.ParDo2(s, &unpackFn{Folder: job.Runs.Folder}, beam.Reshuffle(s, written))
}

type unpackFn struct {
	Folder work.Path
}

func (f *unpackFn) ProcessElement(ctx context.Context, element []byte, emitMember func(Member),
	emitPair func(Pair),
) error {
	o, err := work.DecodeOutcome(element)
	if err == nil {
		err = f.unpack(ctx, o, emitMember, emitPair)
	}
	return faultOf("unpack", err)
}

func (f *unpackFn) unpack(ctx context.Context, o work.Outcome, emitMember func(Member), emitPair func(Pair)) error {
	if o.FirstReject != nil {
		return fmt.Errorf("a document that was packed cannot be read: %s", o.FirstReject.Error)
	}
	kept := map[string]string{} // by the id of the removed document; a shard has few enough
	err := packing.EachRow(ctx, f.Folder, o, output.Removed, func(r output.Removal) { kept[r.ID] = r.KeptID })
	if err != nil {
		return err
	}
	err = packing.EachRow(ctx, f.Folder, o, output.Clusters, func(m output.Member) {
		emitMember(Member{
			ID:         quoting.Original(m.ID),
			Cluster:    quoting.Original(m.Cluster),
			Kept:       m.Kept,
			Similarity: m.Similarity,
			KeptID:     quoting.Original(kept[m.ID]),
			Size:       m.Size,
		})
	})
	if err != nil {
		return err
	}
	return packing.EachRow(ctx, f.Folder, o, output.Pairs, func(p Pair) {
		p.A, p.B = quoting.Original(p.A), quoting.Original(p.B)
		emitPair(p)
	})
}
