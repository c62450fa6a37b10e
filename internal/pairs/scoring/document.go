package scoring

import (
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

type document struct {
	ref   docref.Ref
	size  int      // distinct shingles
	scope uint64   // only documents of one scope are compared
	side  uint64   // documents of one side, if not 0, are not compared
	set   []uint64 // their hashes, or the smallest of them
	// common are the hashes that do not count for the similarity.
	common []uint64
	// node is the node of the document, if hasNode says that it has one: that it has an edge.
	node    graphs.Node
	hasNode bool
	// second is the other document of its class, see [records.Want], or nil.
	second *document
}

func newDocument(s *records.PlacedHead) document {
	d := document{ref: s.Ref, size: int(s.Size), scope: s.Scope, side: s.Side}
	if s.Second != 0 {
		d.second = &document{ref: s.Second, size: d.size}
	}
	return d
}

func (d *document) class() candidates.Class {
	if d.second == nil {
		return candidates.Class{First: d.ref, Second: d.ref, Side: d.side}
	}
	return candidates.Class{First: d.ref, Second: d.second.ref, Side: d.side}
}

func (d *document) of(ref docref.Ref) *document {
	if ref == d.ref {
		return d
	}
	return d.second
}

type number uint32

type gathered struct {
	documents []document // in the order in which their sets come
	arrivals  graphs.Numbering[uint32]
	// named are the documents of pairs, by number. Documents are numbered as pairs name them: documents of a group come
	// one after the other, so sets that are compared in turn are in the cache.
	named   []*document
	numbers []number // by arrival: the number plus 1, 0 if no pair has named the document yet
	last    number   // the result of the last call of findFirst
}

// readSets reads the documents of a place. Their hashes go to memory, which grows as needed.
func readSets(w *work.TaskContext, memory *[]uint64) (*gathered, error) {
	const hashBytes = 8
	most := runfile.SizeOf(w.Pieces, records.PlaceSets) / sketchblock.HashSize // hashes: a document also has a header
	if err := w.Expect(most * hashBytes); err != nil {
		return nil, err
	}
	*memory = slices.Grow((*memory)[:0], int(most))
	hashes := *memory
	g := &gathered{}
	err := eachSet(w, func(s *records.PlacedSet, _ int, _ int) error {
		start := len(hashes)
		hashes = sketchblock.AppendSet(hashes, s.Set)
		d := newDocument(&s.PlacedHead)
		d.set = hashes[start:len(hashes):len(hashes)]
		start = len(hashes)
		hashes = sketchblock.AppendSet(hashes, s.Common)
		d.common = hashes[start:len(hashes):len(hashes)]
		g.arrivals.Add(uint64(s.Ref))
		g.documents = append(g.documents, d)
		return nil
	})
	return g, err
}

// eachSet visits the sets of a place, with the number of the piece and the offset of the hashes there.
func eachSet(w *work.TaskContext, visit func(s *records.PlacedSet, piece, offset int) error) error {
	for i, piece := range w.Pieces {
		if piece.Kind != records.PlaceSets {
			continue
		}
		buffer, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		w.Figures.Bytes += int64(len(buffer))
		var s records.PlacedSet
		for rest := buffer; len(rest) > 0; {
			s, rest = records.NextSet(rest)
			if err := visit(&s, i, len(buffer)-len(rest)-len(s.Set)-len(s.Common)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gathered) find(ref docref.Ref) (number, error) {
	arrival, found := g.arrivals.Find(uint64(ref))
	if !found {
		return 0, fmt.Errorf("the set of document %d is missing", ref)
	}
	if g.numbers == nil {
		g.numbers = make([]number, len(g.documents))
	}
	if g.numbers[arrival] == 0 {
		g.named = append(g.named, &g.documents[arrival])
		g.numbers[arrival] = number(len(g.named))
	}
	return g.numbers[arrival] - 1, nil
}

// findFirst is find for the first document of a pair, faster: the pairs of a document mostly follow each other.
func (g *gathered) findFirst(ref docref.Ref) (number, error) {
	if len(g.named) == 0 || g.named[g.last].ref != ref {
		n, err := g.find(ref)
		if err != nil {
			return 0, err
		}
		g.last = n
	}
	return g.last, nil
}
