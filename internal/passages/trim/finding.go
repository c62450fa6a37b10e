package trim

import (
	"context"
	"fmt"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Trimming is what the tasks of the stage know.
type Trimming struct {
	Rule   Rule
	Inputs work.Path
	// Sketching is how the input was read first.
	Sketching documents.Sketching
	Ranges    int
	// Held is how many passages a task holds at once, at least 1. If more of them are repeated, it reads them several
	// times. It holds all repeated passages of a document.
	Held int
	// ByFile says that sources are files and folders, whose words are counted.
	ByFile bool

	layout documents.Layout // read in Setup
}

func (t *Trimming) Setup() error { return t.layout.Read(string(t.Inputs)) }

// Hashing hashes the passages of the documents of a split. It reads these again.
type Hashing struct{ Trimming }

// HashingDelivery makes a task of [Hashing] for each split, of the outcomes of the tasks that wrote sketch blocks.
func HashingDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Documents}}
}

// Task hashes the passages of one split.
func (h *Hashing) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	r, err := newReader(h.Rule, h.Sketching, h.layout.Inputs)
	if err != nil {
		return err
	}
	refs, err := refsOf(ctx, w)
	if err != nil {
		return err
	}
	windows, found := make([]records.Windows, h.Ranges), findings.Trimmed{}
	err = h.layout.EachAgain(ctx, h.Sketching.Reading, searched, w, t.Number, refs,
		func(ref docref.Ref, d *documents.Record) error {
			w.Figures.Records++
			w.Figures.Bytes += d.Bytes
			r.read(d.Content.Texts[0])
			if ref >= h.layout.FirstInput {
				words := int64(r.words.Len())
				if found.Of += words; h.ByFile {
					w.Outcome.Sources.Words.Add(h.layout.Inputs.SourceOf(ref), words)
				}
			}
			return r.passages(func(at int64, passage sketch.Run) error {
				shard := records.ShardOf(passage.Hash, h.Ranges)
				return windows[shard].Write(&w.Run, shard, records.Place{Ref: ref, At: at}, passage)
			})
		})
	w.Outcome.Trimmed = &found
	return err
}

// refsOf returns the documents of a split.
func refsOf(ctx context.Context, w *work.TaskContext) (refs []docref.Ref, err error) {
	err = w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		for i := range block.Len() {
			refs = append(refs, block.Ref(i))
		}
		return nil
	})
	return refs, err
}

// searched is the step of a panic over a document, see [panics.Over]. The document then stays as it is.
const searched = "searched for passages"

// FindingDelivery makes a task of [Finding] for each range of hashes.
func FindingDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.PassageHashes}}
}

// Finding finds the passages that occur earlier, among the passages of a range of hashes.
type Finding struct{ Trimming }

// Task finds them in one range.
func (f *Finding) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	bytes := int64(0)
	for _, piece := range w.Pieces {
		bytes += piece.Length
	}
	o := &finder{
		Finding:     f,
		ctx:         ctx,
		taskContext: w,
		seen:        newSieve(bytes / leastHashBytes),
		repeats:     make([]records.Repeats, len(f.layout.Starts)),
	}
	err := o.each(func(_ records.Place, passage sketch.Run) error {
		w.Figures.Records++
		o.seen.add(passage.Hash)
		return nil
	})
	if err != nil {
		return err
	}
	o.parts = uint64(o.seen.again/f.Held + 1)
	for part := range o.parts {
		if err := o.part(part); err != nil {
			return err
		}
	}
	return nil
}

// leastHashBytes is the least number of bytes that a passage takes on its way here.
const leastHashBytes = 13

type finder struct {
	*Finding
	ctx         context.Context
	taskContext *work.TaskContext
	seen        *sieve
	parts       uint64
	repeats     []records.Repeats // by split
}

// eachPiece visits the contents of the pieces of a task. Pieces of one run file follow each other.
func eachPiece(ctx context.Context, w *work.TaskContext, visit func(isNewRun bool, packed []byte) error) error {
	path := ""
	for _, piece := range w.Pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		if err := visit(piece.Path != path, packed); err != nil {
			return err
		}
		path = piece.Path
	}
	return nil
}

// each visits the passages of the range in the order of the corpus, as splits and their documents are.
func (f *finder) each(visit func(at records.Place, passage sketch.Run) error) error {
	var windows records.Windows
	return eachPiece(f.ctx, f.taskContext, func(isNewRun bool, rest []byte) error {
		if isNewRun {
			windows = records.Windows{}
		}
		for len(rest) > 0 {
			var at records.Place
			var passage sketch.Run
			at, passage, rest = windows.Next(rest)
			if err := visit(at, passage); err != nil {
				return err
			}
		}
		return nil
	})
}

type occurrence struct {
	passage sketch.Run
	first   records.Place
	last    records.Place // that was counted
	count   int64
}

// occurrences holds what is known of passages. A passage is found by its hash or, if that is taken, by the next one.
type occurrences struct {
	numbers graphs.Numbering[uint32]
	all     []occurrence // by number
}

// see returns what is known of a passage, and whether it is new: then its first place is noted.
func (o *occurrences) see(passage sketch.Run, at records.Place) (of *occurrence, isNew bool) {
	for hash := passage.Hash; ; hash++ {
		number, isNew := o.numbers.Add(hash)
		if isNew {
			o.all = append(o.all, occurrence{passage, at, at, 1})
		}
		if of = &o.all[number]; of.passage == passage {
			return of, isNew
		}
	}
}

// part finds what occurs earlier among a part of the passages, by their hashes.
func (f *finder) part(part uint64) error {
	units := f.Rule.units()
	known := occurrences{all: make([]occurrence, 0, f.seen.again/int(f.parts)+1)}
	isOf := func(passage sketch.Run) bool {
		return f.seen.hasAgain(passage.Hash) && passage.Hash%f.parts == part
	}
	repeat := func(at records.Place, of *occurrence) error {
		if at.Ref < f.layout.FirstInput || !at.ClearOf(of.first, units) {
			return nil
		}
		split := documents.SplitOf(f.layout.Starts, at.Ref)
		return f.repeats[split].Write(&f.taskContext.Run, split, records.Repeat{At: at, First: of.first})
	}
	const twice = 2 // a passage that occurs earlier does
	err := f.each(func(at records.Place, passage sketch.Run) error {
		if !isOf(passage) {
			return nil
		}
		of, isNew := known.see(passage, at)
		if isNew {
			return nil
		}
		if at.ClearOf(of.last, units) {
			of.last = at
			of.count++
		}
		if f.Rule.Copies > twice {
			return nil
		}
		return repeat(at, of)
	})
	if err != nil || f.Rule.Copies <= twice {
		return err
	}
	return f.each(func(at records.Place, passage sketch.Run) error {
		if !isOf(passage) {
			return nil
		}
		if of, _ := known.see(passage, at); of.count >= f.Rule.Copies {
			return repeat(at, of)
		}
		return nil
	})
}

// sieve tells hashes that came once from repeated ones. It errs to one side: a few only seem to be repeated.
type sieve struct {
	mask        uint64
	once, twice []uint64
	again       int // how many bits of twice are set
}

func newSieve(hashes int64) *sieve {
	bits := uint64(64)
	for bits < 8*uint64(hashes) {
		bits *= 2
	}
	return &sieve{mask: bits - 1, once: make([]uint64, bits/64), twice: make([]uint64, bits/64)}
}

// place returns where a hash has its bit. Its highest bits say which range it is of.
func (s *sieve) place(hash uint64) (word, bit uint64) {
	place := hash & s.mask
	return place / 64, 1 << (place % 64)
}

func (s *sieve) add(hash uint64) {
	word, bit := s.place(hash)
	switch {
	case s.once[word]&bit == 0:
		s.once[word] |= bit
	case s.twice[word]&bit == 0:
		s.twice[word] |= bit
		s.again++
	}
}

func (s *sieve) hasAgain(hash uint64) bool {
	word, bit := s.place(hash)
	return s.twice[word]&bit != 0
}

// errText is the error of a passage that the second reading does not find.
func errText(name string) error {
	return work.NewInputError(
		fmt.Errorf(
			"read document %s again: its text is not what it was: the file changed while the job ran: "+
				"run the job again when nobody writes to it", name))
}
