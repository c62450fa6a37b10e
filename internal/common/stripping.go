package common

import (
	"context"
	"errors"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// Stripping writes the sketch blocks of a split again, with the common shingles apart.
type Stripping struct {
	// Scheme is the scheme of the band keys, which are made of what is left.
	Scheme lshbands.Scheme
	// Law is the law that the common shingles follow.
	Law Law
	// LeavesSets says that the blocks stay as they are: common shingles are only counted.
	LeavesSets bool
	// Counts says that the documents that have each common shingle are counted, in so many ranges of hashes.
	Counts bool
	Shards int
}

// Task strips the documents of one split. A document of which fewer than [sketch.LeastOwn] shingles are left gets an empty
// set. Digests stay those of the whole sets: so it is equal to documents of the same whole set, and like no other.
func (s *Stripping) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	list, err := ReadList(t.Catalog)
	if err != nil {
		return err
	}
	w.Hold(list)
	w.Outcome.Common = &work.CommonFound{Above: s.Law.Limit(t.Documents), Shingles: int64(list.Len())}
	o := &stripped{
		Stripping: s, desk: w, split: t.Number, common: list.Shingles, bands: documents.NewBands(s.Scheme),
		builder: sketchblock.NewBuilder(s.Scheme.Bands, 0), seen: records.Sightings{},
	}
	err = eachWhole(ctx, w, func(block *sketchblock.Block, i int, packed []byte) error {
		if i == 0 {
			if err := o.write(); err != nil {
				return err
			}
		}
		return o.add(block, i, packed)
	})
	if err != nil {
		return err
	}
	return errors.Join(o.write(), o.writeSeen())
}

// stripped is a split on its way to stripped blocks.
type stripped struct {
	*Stripping
	desk        *work.Desk
	split       int
	common      *sketch.Shingles
	bands       *documents.Bands
	builder     *sketchblock.Builder
	own, shared []uint64
	parts       []byte // the common shingles of the documents of a block
	seen        records.Sightings
}

// add adds a document.
func (s *stripped) add(block *sketchblock.Block, i int, packed []byte) error {
	w, counts := s.desk, &s.desk.Outcome.Counts
	w.Figures.Records++
	w.Figures.Bytes += int64(len(packed))
	w.Hashes = sketchblock.AppendSet(w.Hashes[:0], packed)
	s.own, s.shared = s.common.AppendOthers(s.own[:0], w.Hashes), appendShared(s.shared[:0], s.common, w.Hashes)
	if s.Counts {
		for _, hash := range s.shared {
			s.seen.Add(hash, block.Ref(i))
		}
		if s.seen.IsFull() {
			if err := s.writeSeen(); err != nil {
				return err
			}
		}
	}
	if s.LeavesSets {
		return nil
	}
	if len(s.shared) > 0 {
		counts.CommonIn++
		if len(s.own) < sketch.LeastOwn {
			s.own, s.shared = s.own[:0], w.Hashes
			counts.CommonWhole++
		}
		counts.CommonShingles += int64(len(s.shared))
	}
	s.parts = records.AppendCommonPart(s.parts, s.shared)
	w.Outcome.Shingles += int64(len(s.own))
	s.builder.Add(sketchblock.Document{
		Ref: block.Ref(i), Digest: block.Digest(i), Set: s.own, Size: len(s.own), Keys: s.bands.Of(s.own),
		Standing: block.Standing(i), Scope: block.Scope(i), Side: block.Side(i), Source: block.Source(i), ID: block.ID(i),
	})
	return nil
}

// writeSeen writes which documents have which common shingle.
func (s *stripped) writeSeen() error {
	return s.seen.Write(&s.desk.Run, records.OfCorpus, s.split, s.Shards)
}

// write writes the block.
func (s *stripped) write() error {
	if s.builder.Len() == 0 {
		return nil
	}
	run := &s.desk.Run
	if err := run.Section(records.Documents, s.split, s.builder.Documents()...); err != nil {
		return err
	}
	if err := run.Section(records.Sets, s.split, s.builder.Sets()); err != nil {
		return err
	}
	if err := run.Section(records.CommonParts, s.split, s.parts); err != nil {
		return err
	}
	s.builder.Reset()
	s.parts = s.parts[:0]
	return nil
}
