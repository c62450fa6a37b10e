package common

import (
	"context"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Stripping writes the sketch blocks of a split again, without the common shingles.
type Stripping struct {
	// Kept says what the blocks keep of what is left.
	Kept documents.Kept
	// SimHashBits is the length of the SimHash fingerprints, which are made of what is left; 0 makes none.
	SimHashBits int
	// Apart keeps the common shingles, too, apart from the sets. Similarities by all shingles need them.
	Apart  bool
	Inputs work.Path
	// AuditSample is about how many documents the audit samples of those that are left. 0 means no audit.
	AuditSample int
	Law         Law

	inputs *documents.Inputs // read in Setup, as are the shares
	shares audit.Shares
}

// Setup reads the inputs. It must be called before the first task.
func (s *Stripping) Setup() (err error) {
	if s.inputs, err = documents.OpenInputs(string(s.Inputs)); err == nil {
		s.shares = s.inputs.AuditShares(s.AuditSample)
	}
	return err
}

// Task strips the documents of one split. A document with fewer than [sketch.LeastOwn] shingles left gets an empty
// set. Digests stay digests of the whole sets: so it is equal to documents of the same whole set, and like no other.
func (s *Stripping) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	list, err := readList(foundPath(string(w.Runs.Folder)))
	if err != nil {
		return err
	}
	w.Hold(list)
	w.Outcome.Common = &findings.Common{Above: s.Law.Limit(t.Documents), Shingles: int64(list.Len())}
	o := &stripped{
		Stripping:   s,
		taskContext: w,
		split:       t.Number,
		common:      list.Shingles,
		builder:     sketchblock.NewBuilder(s.Kept.Scheme.Bands, sketch.SimHashWords(s.SimHashBits)),
	}
	if o.whole, err = newWhole(s.Kept.Fingerprints); err != nil {
		return err
	}
	if o.bands, err = fingerprints.NewBands(s.Kept.Scheme); err != nil {
		return err
	}
	if o.stripper, err = sketch.NewStripper(list.Shingles, s.SimHashBits); err != nil {
		return err
	}
	err = eachWhole(ctx, w, func(block *sketchblock.Block, i int, packed []byte) error {
		if i == 0 {
			if err := o.write(); err != nil {
				return err
			}
		}
		if err := o.whole.open(w, block, i, packed); err != nil {
			return err
		}
		return o.add(block, i)
	})
	if err != nil {
		return err
	}
	return o.write()
}

type stripped struct {
	*Stripping
	taskContext *work.TaskContext
	split       int
	whole       whole
	common      *sketch.Shingles
	stripper    *sketch.Stripper
	bands       *fingerprints.Bands
	builder     *sketchblock.Builder
	shared      []uint64
	parts       []byte // the common shingles of the documents of a block
	forAudit    documents.AuditDocuments
}

func (s *stripped) add(block *sketchblock.Block, i int) error {
	own, simhash := s.stripper.Strip(s.whole.set)
	isBare := len(own) == 0
	s.count(own)
	if s.Apart {
		if s.shared = s.shared[:0]; isBare {
			s.shared = append(s.shared, s.whole.set...)
		} else if len(own) < len(s.whole.set) {
			s.shared = appendShared(s.shared, s.common, s.whole.set)
		}
		s.parts = records.AppendCommonPart(s.parts, s.shared)
	}
	d := sketchblock.Document{
		Ref:      block.Ref(i),
		Digest:   block.Digest(i),
		Size:     len(own),
		Keys:     s.bands.Of(own),
		SimHash:  simhash,
		Priority: block.Priority(i),
		Ties:     block.Ties(i),
		Scope:    block.Scope(i),
		Side:     block.Side(i),
		Source:   block.Source(i),
		ID:       block.ID(i),
		Capture:  block.Capture(i),
	}
	if s.AuditSample > 0 {
		hash := s.inputs.AuditHash(d.Ref, d.Digest[0])
		s.forAudit.Add(s.shares, &d, own, hash, s.inputs.Files[d.Ref.File()].Reference)
	}
	s.whole.Leave(&d, &s.whole.content, own, s.common)
	d.Set = s.Kept.Of(d.Set)
	s.taskContext.Outcome.Shingles += int64(len(own))
	s.builder.Add(d)
	return nil
}

func (s *stripped) count(own []uint64) {
	counts, out := &s.taskContext.Outcome.Counts, len(s.whole.set)-len(own)
	if out == 0 {
		return
	}
	if len(own) == 0 { // nothing is left, whether common or not
		s.shared = appendShared(s.shared[:0], s.common, s.whole.set)
		out = len(s.shared)
		counts.CommonWhole++
	}
	counts.CommonIn++
	counts.CommonShingles += int64(out)
}

func (s *stripped) write() error {
	if s.builder.Len() == 0 {
		return nil
	}
	run := &s.taskContext.Run
	if err := run.Section(records.Documents, s.split, s.builder.Documents()...); err != nil {
		return err
	}
	if err := run.Section(records.Sets, s.split, s.builder.Sets()); err != nil {
		return err
	}
	if s.Apart {
		if err := run.Section(records.CommonParts, s.split, s.parts); err != nil {
			return err
		}
	}
	if err := s.forAudit.Write(run, s.split); err != nil {
		return err
	}
	s.builder.Reset()
	s.parts = s.parts[:0]
	return nil
}
