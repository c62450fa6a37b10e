package transforms

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&auditPlanFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&auditFn{})
}

// Audit samples documents of the input and looks for their partners in a share of
// the corpus, exactly, by counting common shingles. Cluster then sees which of these
// pairs the job has found.
//
// It takes the outcomes of Fingerprint, PCollection<[]byte>, which has set the
// sample aside, and returns one of outcomes with the pairs.
func Audit(s beam.Scope, job Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("audit")
	tasks := beam.ParDo(s, &auditPlanFn{Job: job, planner: planner{job.runs()}}, together(s, sketches))
	return sideBySide(s, &auditFn{Job: job, bundle: newBundle(job)}, tasks)
}

var auditStage = newStage(work.Audit)

// auditPlanFn draws the sample and makes the tasks that look for partners in each
// split.
type auditPlanFn struct {
	Job Job

	planner

	documents.Layout // read in Setup
}

func (f *auditPlanFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *auditPlanFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, auditStage, elements, emit, f.Plan)
	return err
}

// Plan draws the sample and makes the tasks.
func (f *auditPlanFn) Plan(_ context.Context, p *work.Planning) error {
	sample, err := f.draw(p.Memory, p.Outcomes)
	if err != nil || len(sample.Documents) == 0 {
		return err
	}
	shares := newAuditShares(f.Job, f.Inputs)
	sample.Cut = sample.Cut || shares.sampled < 1
	sample.ProbedBelow = audit.Limit(shares.probed)
	sample.Fit(f.Job.Threshold, float64(p.Counts.Documents+p.Counts.ReferenceDocuments), shares.budget())
	path, err := writeSample(p.Memory, f.Job, &sample)
	if err != nil {
		return err
	}
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets, records.Sample, records.Probe}}
	return p.Deliver(d, append(work.RunsOf(p.Outcomes), path))
}

// draw draws from the documents that Fingerprint has set aside.
func (f *auditPlanFn) draw(m *work.Memory, outcomes []work.Outcome) (audit.Sample, error) {
	shingles := int64(0)
	for _, o := range outcomes {
		shingles += o.Shingles
	}
	drawing := audit.NewDrawing(f.Job.AuditSample, newAuditShares(f.Job, f.Inputs).elements(shingles))
	err := work.EachRecordOf(outcomes, work.Fingerprint, records.Sample, m, func(packed []byte) error {
		for len(packed) > 0 {
			var d records.SetAside
			d, packed = records.NextSetAside(packed)
			drawing.Add(d.Ref, d.Digest, func() []uint64 {
				return sketchblock.AppendSet(make([]uint64, 0, len(d.Set)/sketchblock.HashSize), d.Set)
			})
		}
		return nil
	})
	return drawing.Finish(), err
}

// auditFn finds the partners of the sampled documents in a split.
type auditFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
	sample           sharedSample
}

func (f *auditFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *auditFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, auditStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		sample, err := f.sample.read(f.Job, t.Catalog)
		if err != nil {
			return err
		}
		w.Outcome.Sampled = len(sample.Documents)
		w.Outcome.SampledAll = !sample.Cut
		p := &partnerSearch{
			threshold: f.Job.Threshold, firstInput: f.FirstInput,
			sample: sample, probe: sample.index.NewProbe(), w: w, recent: make([]recentClass, recentClasses),
		}
		if newAuditShares(f.Job, f.Inputs).probed == 1 {
			err = p.blocks(ctx)
		} else {
			err = p.setAside(ctx)
		}
		if err != nil {
			return err
		}
		return p.write()
	})
}

// preparedSample is a sample as the tasks use it. Nobody changes it.
type preparedSample struct {
	audit.Sample
	index   *audit.Index
	classes map[uint64]uint32 // numbers by digest
}

// sharedSample is the sample that the tasks of a DoFn share.
type sharedSample struct {
	mutex   sync.Mutex
	catalog string
	sample  *preparedSample
}

// read returns the sample that the catalog leads to.
func (s *sharedSample) read(job Job, catalog string) (*preparedSample, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.catalog == catalog {
		return s.sample, nil
	}
	sample, err := readSample(job, catalog)
	if err != nil {
		return nil, fmt.Errorf("read sample: %w", err)
	}
	p := &preparedSample{Sample: sample, index: audit.NewIndex(job.Threshold, sample.Sets), classes: map[uint64]uint32{}}
	for number, digest := range sample.Digests {
		p.classes[digest] = uint32(number)
	}
	s.catalog, s.sample = catalog, p
	return p, nil
}

// recentClasses is how many classes of equal documents a task remembers, at places
// that their digests give. A class that it has forgotten is compared again.
const recentClasses = 1 << 12

// recentClass is the number of a class in partnerSearch.classes, -1 where it has no
// partner.
type recentClass struct {
	digest uint64
	number int
	known  bool
}

// partnerSearch looks for partners of sampled documents in one split.
type partnerSearch struct {
	threshold  float64
	firstInput docref.Ref
	sample     *preparedSample
	probe      *audit.Probe
	w          *work.Place
	recent     []recentClass
	classes    []audit.Class // that have partners
}

// blocks goes through all documents of the split.
func (p *partnerSearch) blocks(ctx context.Context) error {
	return p.w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		sets, err := p.w.ReadPiece(1, setsPiece)
		if err != nil {
			return err
		}
		p.w.Figures.Bytes += int64(len(sets))
		for i := range block.Len() {
			size := sketchblock.HashSize * block.Stored(i)
			if err := p.document(records.SetAside{Ref: block.Ref(i), Digest: block.Digest(i), Set: sets[:size]}); err != nil {
				return err
			}
			sets = sets[size:]
		}
		p.w.Figures.Records += int64(block.Len())
		return nil
	})
}

// setAside goes through the documents of the split that Fingerprint has set aside.
func (p *partnerSearch) setAside(ctx context.Context) error {
	for _, piece := range p.w.Pieces {
		if piece.Kind != records.Sample && piece.Kind != records.Probe {
			continue
		}
		packed, err := p.w.ReadPiece(1, piece)
		if err != nil {
			return err
		}
		p.w.Figures.Bytes += int64(len(packed))
		for len(packed) > 0 {
			var d records.SetAside
			d, packed = records.NextSetAside(packed)
			if err := p.document(d); err != nil {
				return err
			}
			p.w.Figures.Records += 1
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// document looks at one document.
func (p *partnerSearch) document(d records.SetAside) error {
	isReference := d.Ref < p.firstInput
	if len(d.Set) == 0 || auditHash(d.Ref, d.Digest, isReference) >= p.sample.ProbedBelow {
		return nil
	}
	if number := p.class(d); number >= 0 {
		p.classes[number].Count(d.Ref, isReference)
	}
	if isReference || !p.sample.Has(d.Ref) {
		return nil
	}
	b, err := p.w.Run.Record(records.Sample, 0, records.SampledSize)
	if err == nil {
		records.PutRef(b, d.Ref)
		binary.LittleEndian.PutUint32(b[records.RefSize:], p.sample.classes[d.Digest])
	}
	return err
}

// class returns the number of a document's class in classes, -1 if it has no
// partner.
func (p *partnerSearch) class(d records.SetAside) int {
	recent := &p.recent[audit.Hash(d.Digest)%recentClasses]
	if recent.known && recent.digest == d.Digest {
		return recent.number
	}
	*recent = recentClass{digest: d.Digest, number: -1, known: true}
	if partners := p.partners(d); len(partners) > 0 {
		recent.number = len(p.classes)
		p.classes = append(p.classes, audit.Class{Digest: d.Digest, Partners: partners})
	}
	return recent.number
}

// partners returns the sampled classes that are similar to a document.
func (p *partnerSearch) partners(d records.SetAside) (partners []audit.Partner) {
	p.w.Hashes = sketchblock.AppendSet(p.w.Hashes[:0], d.Set)
	set := p.w.Hashes
	for _, class := range p.probe.Candidates(set) {
		other := p.sample.Sets[class]
		need := asmkernels.Required(p.threshold, len(set), len(other))
		if asmkernels.Intersect(set, other, need) >= need {
			partners = append(partners, audit.NewPartner(class, p.sample.Digests[class] == d.Digest))
		}
	}
	return partners
}

// write writes the classes that have partners.
func (p *partnerSearch) write() error {
	for i := range p.classes {
		if err := records.WriteClass(&p.w.Run, &p.classes[i]); err != nil {
			return err
		}
	}
	if p.sample.ProbedBelow == audit.Limit(1) {
		_, err := p.w.Run.Record(records.Probe, 0, 1) // says that all documents were looked at
		return err
	}
	return nil
}
