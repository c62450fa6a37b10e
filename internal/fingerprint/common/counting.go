// Package common finds the shingles that too many documents share, and removes them from all sets. They say nothing
// about copying.
//
// Two rounds count. The first one finds the shingles that more distinct documents have than the law allows. The second
// one counts, for each of these, only the documents that have enough text of their own in addition to them. What is
// frequent there, too, is common: it is the template of documents that say something else. What many documents consist
// of, such as an article that a hundred sites have reprinted, is frequent in the first round only, and stays.
//
// Documents are told apart by their digests. So a text that occurs in a corpus a thousand times counts once.
package common

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// SeenDelivery makes a task of [Counting] for each range of hashes that has shingles.
func SeenDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.SeenSets}} }

// Counting finds the shingles of a range of hashes that more distinct documents have than the law allows.
type Counting struct {
	Law Law
}

// Task counts the shingles of one range. It needs the number of documents of the input. Most shingles are rare: a sieve
// lets few of these through, and the others are counted one by one.
func (c *Counting) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	limit := c.Law.Limit(t.Documents)
	sieve := newSieve(runfile.SizeOf(w.Pieces, records.SeenSets)/sketchblock.HashSize, limit)
	var seen []records.Seen
	for _, visit := range []func(records.Seen){
		func(s records.Seen) {
			w.Figures.Records++
			sieve.add(s.Shingle)
		},
		func(s records.Seen) {
			if sieve.passes(s.Shingle) {
				seen = append(seen, s)
			}
		},
	} {
		for _, piece := range w.Pieces {
			packed, err := w.ReadPiece(0, piece)
			if err != nil {
				return err
			}
			if records.EachSeen(packed, visit); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	seen = graphs.RadixSort(seen, make([]records.Seen, len(seen)), func(s *records.Seen) uint64 { return s.Shingle })
	for same := range graphs.Runs(seen, func(a, b *records.Seen) bool { return a.Shingle == b.Shingle }) {
		if int64(len(same)) <= limit {
			continue
		}
		if documents := distinct(w.Hashes[:0], same); documents > limit {
			f := records.Frequent{Shingle: same[0].Shingle, Documents: documents}
			if err := records.Write(&w.Run, records.FrequentShingles, 0, &f); err != nil {
				return err
			}
		}
	}
	return nil
}

func distinct(memory []uint64, seen []records.Seen) int64 {
	for _, s := range seen {
		memory = append(memory, s.Digest)
	}
	slices.Sort(memory)
	return int64(len(slices.Compact(memory)))
}

const (
	// cellShare is how many cells a sieve has for each shingle that may be in it. With fewer, more rare shingles pass.
	cellShare = 8
	// leastCells and mostCells bound the cells of a sieve, which take two bytes each.
	leastCells, mostCells = 1 << 8, 1 << 23
)

// sieve tells which shingles may be frequent. Each falls into a cell, and a cell counts all that do. So a shingle
// passes if more documents have it than the limit, and few others pass.
type sieve struct {
	cells []uint16 // a full one stays as it is
	limit uint16
}

// newSieve returns a sieve for about the given number of shingles, repeats included. It holds back a shingle that at
// most limit documents have.
func newSieve(shingles, limit int64) *sieve {
	cells := min(max(cellShare*shingles/max(limit, 1), leastCells), mostCells)
	return &sieve{make([]uint16, 1<<bits.Len64(uint64(cells-1))), uint16(min(limit, math.MaxUint16-1))}
}

// cell returns the cell of a shingle. Shingles are hashes, and shingles of a range have the same upper bits.
func (s *sieve) cell(shingle uint64) *uint16 { return &s.cells[shingle&uint64(len(s.cells)-1)] }

func (s *sieve) add(shingle uint64) {
	if cell := s.cell(shingle); *cell < math.MaxUint16 {
		*cell++
	}
}

func (s *sieve) passes(shingle uint64) bool { return *s.cell(shingle) > s.limit }

// The choices of a [Law] that are not numbers.
const (
	Off  = "off"
	Auto = "auto"
)

// leastAuto is the least number of documents of [Auto]: fewer versions of one text are no template.
const leastAuto = 16

// Law says which shingles are common. The zero Law says that none is.
type Law struct {
	// Above is the number of documents that have a shingle before it is common, 0 if Share or the corpus says it.
	Above int64
	// Share is that number as a share of the documents of the input, from 0 to 1.
	Share float64
	// IsAuto says that the number follows from the size of the corpus.
	IsAuto bool
}

// ParseLaw returns the law that a user has written: off, auto, a number of documents, or a percentage such as 2%.
func ParseLaw(text string) (Law, error) {
	if text == Off || text == "" {
		return Law{}, nil
	}
	if text == Auto {
		return Law{IsAuto: true}, nil
	}
	if percent, is := strings.CutSuffix(text, "%"); is {
		share, err := strconv.ParseFloat(percent, 64)
		if err == nil && share > 0 && share < 100 {
			return Law{Share: share / 100}, nil
		}
	} else if above, err := strconv.ParseInt(text, 10, 64); err == nil && above >= 1 {
		return Law{Above: above}, nil
	}
	return Law{}, fmt.Errorf("%s: must be off, auto, a number of documents, or a share of them from 0%% to 100%%", text)
}

// IsOff reports whether no shingle is common.
func (l Law) IsOff() bool { return l == Law{} }

// Limit returns how many documents may have a shingle that still counts, in a corpus of the given number of documents.
func (l Law) Limit(documents int64) int64 {
	switch {
	case l.IsAuto:
		return max(leastAuto, int64(math.Sqrt(float64(documents))))
	case l.Share > 0:
		return max(1, int64(l.Share*float64(documents)))
	}
	return l.Above
}

// ownShare is the share of its shingles that a document must have in addition to the frequent ones to say that these
// are a template: one in this number.
const ownShare = 5

func hasEnoughOwn(own, all int) bool { return own >= sketch.LeastOwn && own*ownShare >= all }

const (
	// FirstRound sees all shingles.
	FirstRound = iota
	// SecondRound sees the frequent shingles of the documents that have enough of their own.
	SecondRound
)

// WholeDelivery makes a task for each split that has documents. Their sets are marked whole if they will be stripped.
func WholeDelivery(step int, isMarked bool) work.Delivery {
	if isMarked {
		return work.Delivery{
			Step:   step,
			Needed: []runfile.Kind{records.WholeDocuments},
			Extra:  []runfile.Kind{records.WholeSets},
		}
	}
	return work.Delivery{Step: step, Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets}}
}

// Seeing writes which shingles the documents of a split have, by ranges of hashes.
type Seeing struct {
	// Shards is the number of ranges. It changes no result.
	Shards       int
	Fingerprints fingerprints.Name
}

// Task goes through one split.
func (s *Seeing) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	var frequent *sketch.Shingles
	if t.Step == SecondRound {
		list, err := ReadList(t.Catalog)
		if err != nil {
			return err
		}
		w.Hold(list)
		frequent = list.Shingles
	}
	known := documents.Repeats{}
	d, err := newWhole(s.Fingerprints)
	if err != nil {
		return err
	}
	return eachWhole(ctx, w, func(block *sketchblock.Block, i int, packed []byte) error {
		// A repeat changes no count. To leave it out here saves the work.
		if digest := block.Digest(i); known.Has(block.Ref(i), digest, 0) {
			return nil
		}
		if err := d.open(w, block, i, packed); err != nil {
			return err
		}
		seen := d.set
		if frequent != nil {
			all := len(seen)
			if seen = appendShared(w.Pairs[:0], frequent, seen); !hasEnoughOwn(all-len(seen), all) {
				seen = seen[:0]
			}
			w.Pairs = seen[:0]
		}
		return records.WriteSeen(&w.Run, s.Shards, block.Digest(i)[0], seen)
	})
}

func appendShared(shared []uint64, others *sketch.Shingles, set []uint64) []uint64 {
	for _, hash := range set {
		if others.Has(hash) {
			shared = append(shared, hash)
		}
	}
	return shared
}

// whole reads documents whose common shingles are still in them.
type whole struct {
	fingerprints.Reader
	content fingerprints.Content
	// set has the distinct shingles of the current document, ascending.
	set []uint64
}

func newWhole(name fingerprints.Name) (whole, error) {
	kind, err := fingerprints.Of(name)
	if err == nil && kind.Block == nil {
		err = fmt.Errorf("fingerprints %s have no shingles", name)
	}
	if err != nil {
		return whole{}, err
	}
	return whole{Reader: kind.Block()}, nil
}

func eachWhole(ctx context.Context, w *work.TaskContext,
	visit func(block *sketchblock.Block, i int, packed []byte) error,
) error {
	for i := range w.Pieces {
		switch w.Pieces[i].Kind {
		case records.WholeDocuments:
			w.Pieces[i].Kind = records.Documents
		case records.WholeSets:
			w.Pieces[i].Kind = records.Sets
		}
	}
	return w.EachSet(ctx, visit)
}

func (d *whole) open(w *work.TaskContext, block *sketchblock.Block, i int, packed []byte) (err error) {
	w.Figures.Records++
	w.Figures.Bytes += int64(len(packed))
	if err = d.Read(&d.content, packed); err != nil {
		return fmt.Errorf("document %d: %w", block.Ref(i), err)
	}
	d.set = d.Shingles(&d.content)
	return nil
}
