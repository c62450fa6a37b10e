package recall

import (
	"context"
	"encoding/binary"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
)

// recentClasses is the number of classes of equal documents that a task remembers, at places that their digests give. A
// class that it has forgotten is compared again.
const recentClasses = 1 << 12

// recentClass is the number of a class in search.classes, -1 if it has no partner.
type recentClass struct {
	digest uint64
	number int
	known  bool
}

// search looks for partners of sampled documents in one split.
type search struct {
	threshold  float64
	firstInput docref.Ref
	sample     *sample
	probe      *audit.Probe
	w          *work.Desk
	recent     []recentClass
	classes    []audit.Class // classes that have partners
}

// blocks goes through all documents of the split.
func (s *search) blocks(ctx context.Context) error {
	return s.w.EachSet(ctx, func(block *sketchblock.Block, i int, set []byte) error {
		s.w.Figures.Records++
		s.w.Figures.Bytes += int64(len(set))
		return s.document(records.SetAside{Ref: block.Ref(i), Digest: block.Digest(i)[0], Scope: block.Scope(i), Side: block.Side(i), Set: set})
	})
}

// setAside goes through the documents of the split that were set aside.
func (s *search) setAside(ctx context.Context) error {
	for _, piece := range s.w.Pieces {
		if piece.Kind != records.Sample && piece.Kind != records.Probe {
			continue
		}
		packed, err := s.w.ReadPiece(1, piece)
		if err != nil {
			return err
		}
		s.w.Figures.Bytes += int64(len(packed))
		for len(packed) > 0 {
			var d records.SetAside
			d, packed = records.NextSetAside(packed)
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

func (s *search) document(d records.SetAside) error {
	isReference := d.Ref < s.firstInput
	if len(d.Set) == 0 || audit.DocumentHash(d.Ref, d.Digest, isReference) >= s.sample.ProbedBelow {
		return nil
	}
	if number := s.class(d); number >= 0 {
		s.classes[number].Count(d.Ref, isReference)
		s.countApart(&s.classes[number], d.Side)
	}
	if isReference || !s.sample.Has(d.Ref) {
		return nil
	}
	b, err := s.w.Run.Record(records.Sample, 0, records.SampledSize)
	if err == nil {
		records.PutRef(b, d.Ref)
		binary.LittleEndian.PutUint32(b[records.RefSize:], uint32(s.sample.classes[equalsOf(d)]))
	}
	return err
}

// class returns the number of a document's class in classes, -1 if it has no
// partner.
func (s *search) class(d records.SetAside) int {
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
func (s *search) partners(d records.SetAside) (partners []audit.Partner) {
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
		if err := records.WriteClass(&s.w.Run, &s.classes[i]); err != nil {
			return err
		}
	}
	if s.sample.ProbedBelow == audit.Limit(1) {
		_, err := s.w.Run.Record(records.Probe, 0, 1) // says that the task looked at all documents
		return err
	}
	return nil
}
