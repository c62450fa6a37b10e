// Package auditing runs the audit of a job, over run files: it measures which share of the similar pairs the job has
// found. [Audit] draws a sample of the documents that were set apart when they were fingerprinted, and looks for the
// partners of each among the others. [Write] checks which of these pairs the job has found. Package audit has the
// sampling and the estimate.
package auditing

import (
	"context"
	"fmt"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental/pruning"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

// Audit is the work of the stage audit. Its parameters must equal those with which the documents were fingerprinted.
type Audit struct {
	Inputs work.Path
	// Threshold is the least Jaccard similarity of the pairs of the job, above 0.
	Threshold float64
	// Sample is about how many documents are sampled; 0: none.
	Sample int
	// SampleBytes is how much memory the sample may take; 0: no limit.
	SampleBytes int64
	// IsPruned says that the stage prune has set apart the documents that may be partners.
	IsPruned bool
	// Seed is the seed of the digests of sets.
	Seed uint64

	layout documents.Layout // read in Setup, as shares is
	shares audit.Shares
}

// Setup reads the inputs. It must be called before Plan and before the first task.
func (a *Audit) Setup() error {
	if err := a.layout.Read(string(a.Inputs)); err != nil {
		return err
	}
	a.shares = a.layout.Inputs.AuditShares(a.Sample)
	return nil
}

// Plan draws the sample from the documents that were set apart. It makes a task that looks for partners for each split
// that has documents, and none if nothing was set apart.
func (a *Audit) Plan(_ context.Context, p *work.Planning) error {
	sample, err := a.draw(p)
	if err != nil || len(sample.Documents) == 0 {
		return err
	}
	sample.Cut = sample.Cut || a.shares.Sampled < 1
	sample.ProbedBelow = audit.Limit(a.shares.Probed)
	sample.Fit(a.Threshold, documentsOf(p.Outcomes), a.shares.Budget())
	path, err := a.writeSample(p, &sample)
	if err != nil {
		return err
	}
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sample, records.Probe}}
	if !a.IsPruned {
		d.Extra = append(d.Extra, records.Sets, records.Heads)
	}
	return p.Deliver(d, append(work.RunsOf(p.Outcomes), path))
}

// documentsOf returns the number of documents in the corpus. The stage prune has counted them once more.
func documentsOf(outcomes []work.Outcome) float64 {
	n := int64(0)
	for _, o := range outcomes {
		if o.Stage != work.Prune {
			n += o.Counts.Documents + o.Counts.ReferenceDocuments
		}
	}
	return float64(n)
}

// draw draws from the documents that were set apart, by the stage that made their sets.
func (a *Audit) draw(p *work.Planning) (audit.Sample, error) {
	shingles := int64(0)
	for _, o := range p.Outcomes {
		if o.Stage != work.Prune {
			shingles += o.Shingles
		}
	}
	drawing := audit.NewDrawing(a.Sample, a.shares.Elements(shingles, a.SampleBytes))
	for _, stage := range []work.Stage{work.Fingerprint, work.Strip} {
		err := work.EachRecordOf(p.Outcomes, stage, records.Sample, p.Memory, func(packed []byte) error {
			for d := range records.All[records.AuditDocument](packed) {
				drawing.Add(d.Hash, d.Ref, equalsOf(d), func() []uint64 {
					return sketchblock.AppendSet(make([]uint64, 0, len(d.Set)/sketchblock.HashSize), d.Set)
				})
			}
			return nil
		})
		if err != nil {
			return audit.Sample{}, err
		}
	}
	return drawing.Finish(), nil
}

var samples work.Shared[sample]

// Task finds the partners of the sampled documents in the split of the task's number.
func (a *Audit) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	sample, err := samples.Get(t.Catalog, a.readSample)
	if err != nil {
		return fmt.Errorf("read sample: %w", err)
	}
	w.Hold(sample)
	w.Outcome.Sampled = len(sample.Documents)
	w.Outcome.SampledAll = !sample.Cut
	s := &search{
		threshold:  a.Threshold,
		firstInput: a.layout.FirstInput,
		sample:     sample,
		probe:      sample.index.NewProbe(),
		w:          w,
		inputs:     a.layout.Inputs,
		recent:     make([]recentClass, recentClasses),
	}
	switch {
	case a.IsPruned:
		err = s.auditDocuments(ctx)
	case work.HasHeads(w.Pieces) && sample.shingles.KnowsHeads():
		err = w.EachHead(ctx, a.Seed, s.byHeads)
	case a.shares.Probed == 1 || work.HasHeads(w.Pieces):
		err = s.blocks(ctx)
	default:
		err = s.auditDocuments(ctx)
	}
	if err != nil {
		return err
	}
	return s.write()
}

// sample is a sample in the form that tasks use. Nobody changes it.
type sample struct {
	audit.Sample
	index    *audit.Index
	shingles pruning.Table
	classes  map[audit.Equals]audit.SampledClass
}

func equalsOf(d records.AuditDocument) audit.Equals {
	return audit.Equals{Digest: d.Digest, Scope: d.Scope, Side: d.Side}
}

type sampleHead struct {
	ProbedBelow uint64
	Cut         bool
}

// sampleShard returns the shard of the catalog that holds the sample: the one after all splits.
func (a *Audit) sampleShard() int { return len(a.layout.Inputs.Splits) }

// writeSample writes the sample and returns the path of the run. Only the first of equal documents has a set.
func (a *Audit) writeSample(p *work.Planning, s *audit.Sample) (string, error) {
	run := &p.Run
	p.Runs.Begin(run)
	defer run.Abort()
	packed := records.Append(nil, &sampleHead{s.ProbedBelow, s.Cut})
	sets := audit.SampledClass(0)
	for i, ref := range s.Documents {
		class := s.Classes[i]
		var set []uint64
		if class == sets {
			set = s.Sets[class]
			sets++
		}
		equals := s.Equals[class]
		forAudit := records.AuditDocument{
			Ref:    ref,
			Hash:   s.Hashes[i],
			Digest: equals.Digest,
			Scope:  equals.Scope,
			Side:   equals.Side,
		}
		packed = records.AppendAuditDocument(packed, forAudit, set)
	}
	if err := run.Section(records.Sample, a.sampleShard(), packed); err != nil {
		return "", err
	}
	return run.Close()
}

func (a *Audit) readSample(catalog string) (*sample, error) {
	pieces, err := runfile.ReadCatalog(catalog, a.sampleShard())
	if err != nil {
		return nil, err
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, records.Sample)
	if err != nil {
		return nil, err
	}
	s := &sample{classes: map[audit.Equals]audit.SampledClass{}}
	head, packed := records.Next[sampleHead](packed)
	s.ProbedBelow, s.Cut = head.ProbedBelow, head.Cut
	elements := make([]uint64, 0, len(packed)/sketchblock.HashSize)
	for d := range records.All[records.AuditDocument](packed) {
		s.Documents, s.Hashes = append(s.Documents, d.Ref), append(s.Hashes, d.Hash)
		if len(d.Set) > 0 {
			s.classes[equalsOf(d)] = audit.SampledClass(len(s.Equals))
			s.Equals = append(s.Equals, equalsOf(d))
			start := len(elements)
			elements = sketchblock.AppendSet(elements, d.Set)
			s.Sets = append(s.Sets, elements[start:])
		}
	}
	s.index = audit.NewIndex(a.Threshold, s.Sets)
	s.shingles = pruning.NewTable(int64(len(elements)), 8*sketchblock.HashSize)
	for _, hash := range elements {
		s.shingles.Add(hash)
	}
	return s, nil
}

// recentClasses is the number of classes of equal documents that a task remembers, at places that their digests give. A
// class that it has forgotten is compared again.
const recentClasses = 1 << 12

// recentClass is the number of a class in search.classes, -1 if it has no partner.
type recentClass struct {
	digest uint64
	number int
	known  bool
}

type search struct {
	threshold  float64
	firstInput docref.Ref
	sample     *sample
	probe      *audit.Probe
	w          *work.TaskContext
	inputs     *documents.Inputs
	recent     []recentClass
	classes    []audit.Class // classes that have partners
}

func (s *search) blocks(ctx context.Context) error {
	return s.w.EachSet(ctx, func(block *sketchblock.Block, i int, set []byte) error {
		s.w.Figures.Records++
		s.w.Figures.Bytes += int64(len(set))
		d := s.described(block, i)
		d.Scope, d.Side, d.Set = block.Scope(i), block.Side(i), set
		return s.document(d)
	})
}

// described returns what decides whether the audit looks at a document.
func (s *search) described(block *sketchblock.Block, i int) records.AuditDocument {
	ref, digest := block.Ref(i), block.DigestLead(i)
	return records.AuditDocument{Ref: ref, Hash: s.inputs.AuditHash(ref, digest), Digest: digest}
}

// byHeads goes through the documents of a block. Most show by their heads that they are similar to no sampled one.
func (s *search) byHeads(block *sketchblock.Block, heads *work.Heads) error {
	for i := range block.Len() {
		d := s.described(block, i)
		if block.Stored(i) == 0 || !s.isProbed(d) ||
			s.sample.shingles.RulesOut(heads.Head(i), sketchblock.MayLack(block.Size(i), s.threshold)) {
			continue
		}
		var err error
		if d.Set, err = heads.Set(i); err != nil {
			return err
		}
		d.Scope, d.Side = block.Scope(i), block.Side(i)
		s.w.Figures.Records++
		s.w.Figures.Bytes += int64(len(d.Set))
		if err := s.document(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) auditDocuments(ctx context.Context) error {
	for _, piece := range s.w.Pieces {
		if piece.Kind != records.Sample && piece.Kind != records.Probe {
			continue
		}
		packed, err := s.w.ReadPiece(1, piece)
		if err != nil {
			return err
		}
		s.w.Figures.Bytes += int64(len(packed))
		for d := range records.All[records.AuditDocument](packed) {
			if err := s.document(d); err != nil {
				return err
			}
			s.w.Figures.Records++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (s *search) isProbed(d records.AuditDocument) bool { return d.Hash < s.sample.ProbedBelow }

func (s *search) document(d records.AuditDocument) error {
	if len(d.Set) == 0 || !s.isProbed(d) {
		return nil
	}
	isReference := d.Ref < s.firstInput
	if number := s.class(d); number >= 0 {
		s.classes[number].Count(d.Ref, isReference)
		s.countApart(&s.classes[number], d.Side)
	}
	if isReference || !s.sample.Has(d.Hash, d.Ref) {
		return nil
	}
	sampled := records.Sampled{Hash: d.Hash, Class: uint32(s.sample.classes[equalsOf(d)])}
	return records.Write(&s.w.Run, records.Sample, 0, &sampled)
}

// class returns the number of a document's class in classes, -1 if it has no partner.
func (s *search) class(d records.AuditDocument) int {
	recent := &s.recent[audit.Hash(d.Digest)%recentClasses]
	if recent.known && recent.digest == d.Digest {
		return recent.number
	}
	*recent = recentClass{digest: d.Digest, number: -1, known: true}
	if partners := s.partners(d); len(partners) > 0 {
		recent.number = len(s.classes)
		s.classes = append(s.classes, audit.Class{Digest: d.Digest, Partners: partners})
	}
	return recent.number
}

// countApart counts a document of a class at the partners that are of its side.
func (s *search) countApart(c *audit.Class, side uint64) {
	if side == 0 {
		return
	}
	if c.Apart == nil {
		c.Apart = make([]int64, len(c.Partners))
	}
	for i, partner := range c.Partners {
		if s.sample.Equals[partner.Class()].Side == side {
			c.Apart[i]++
		}
	}
}

// partners returns the sampled classes that are similar to a document and of its scope.
func (s *search) partners(d records.AuditDocument) (partners []audit.Partner) {
	s.w.Hashes = sketchblock.AppendSet(s.w.Hashes[:0], d.Set)
	set := s.w.Hashes
	for _, class := range s.probe.Candidates(set) {
		if s.sample.Equals[class].Scope != d.Scope {
			continue
		}
		other := s.sample.Sets[class]
		need := asmkernels.Required(s.threshold, len(set), len(other))
		if asmkernels.Intersect(set, other, need) >= need {
			partners = append(partners, audit.NewPartner(class, s.sample.Equals[class].Digest == d.Digest))
		}
	}
	return partners
}

func (s *search) write() error {
	for i := range s.classes {
		if err := records.Write(&s.w.Run, records.Audit, 0, &s.classes[i]); err != nil {
			return err
		}
	}
	if s.sample.ProbedBelow == audit.Limit(1) {
		_, err := s.w.Run.Record(records.Probe, 0, 1) // says that the task looked at all documents
		return err
	}
	return nil
}
