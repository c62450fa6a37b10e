package scoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// block compares the documents of a block with each other and, while sizes allow, with smaller ones of earlier blocks.
func (s *Sets) block(ctx context.Context, t work.Task, w *work.TaskContext, edges *edgeWriter) error {
	own, err := readBlock(w, t.Number, &w.Hashes)
	if err != nil {
		return err
	}
	if err := s.compareBlocks(ctx, w, edges, own, own); err != nil {
		return err
	}
	var hashes []uint64
	for number := t.Number - 1; number >= 0; number-- {
		if w.Pieces, err = runfile.ReadCatalog(t.Catalog, number); err != nil {
			return err
		}
		smaller, err := readBlock(w, number, &hashes)
		if err != nil {
			return err
		}
		if !s.sizesAllow(smaller[len(smaller)-1].size, own[0].size) {
			break
		}
		if err := s.compareBlocks(ctx, w, edges, own, smaller); err != nil {
			return err
		}
	}
	return nil
}

// readBlock returns the documents of a block ordered by size, then by ref.
func readBlock(w *work.TaskContext, number int, memory *[]uint64) ([]document, error) {
	g, err := readSets(w, memory)
	if err != nil {
		return nil, err
	}
	if len(g.documents) == 0 {
		return nil, fmt.Errorf("the sets of block %d are missing", number)
	}
	slices.SortFunc(g.documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.ref, b.ref))
	})
	return g.documents, nil
}

// compareBlocks compares the documents of a block with the documents of another block, which may be the same one.
func (s *Sets) compareBlocks(ctx context.Context, w *work.TaskContext, edges *edgeWriter,
	own, others []document,
) error {
	for i := range own {
		if err := ctx.Err(); err != nil {
			return err
		}
		smaller := others
		if &own[0] == &others[0] {
			smaller = own[:i]
		}
		if err := s.compareAll(w, edges, &own[i], smaller); err != nil {
			return err
		}
	}
	return nil
}

// compareAll compares a document with the others that are large enough. They ascend by size up to its own.
func (s *Sets) compareAll(w *work.TaskContext, edges *edgeWriter, d *document, others []document) error {
	from := sort.Search(len(others), func(i int) bool { return s.sizesAllow(others[i].size, d.size) })
	for i := from; i < len(others); i++ {
		other := &others[i]
		x, y, compared := candidates.Ends(other.class(), d.class(), s.layout.FirstInput)
		if !compared || other.scope != d.scope || s.reused.Both(x, y) {
			continue
		}
		w.Outcome.Counts.Candidates++
		w.Figures.Compared++
		score, ok := s.compare(other, d)
		if !ok {
			continue
		}
		if err := edges.add(other.of(x), d.of(y), score); err != nil {
			return err
		}
	}
	return nil
}

// outline is what most pivots of a hot group are ruled out by: two bitmaps of a set, each a line of the processor's
// cache. They tell sets of up to some 1,000 shingles apart. The second one takes other bits of the hashes. It is for
// sets that differ in just more shingles than the threshold allows: one in six of these passes the first one, since two
// shingles flip the same bit.
type outline [2][outlineWords]uint64

const outlineWords = 8

func outlineOf(d *document) (o outline) {
	for i := range o {
		candidates.Flip(o[i][:], d.set, i)
	}
	return o
}

// folded returns the first bitmap in that many words, in which sets differ in no more bits than in shingles, either.
func (o *outline) folded(words int) []uint64 {
	folded := slices.Clone(o[0][:words])
	for i, word := range o[0][words:] {
		folded[i%words] ^= word
	}
	return folded
}

// outlines are the sizes and outlines of the pivots of a hot group, apart from the pivots, which miss the caches.
type outlines struct {
	sizes     []int
	bitmaps   [2][]uint64
	folded    [len(foldedWords)][]uint64
	largest   int // size
	distances []uint16
	close     []graphs.Pivot
}

func (o *outlines) add(d *document) {
	o.sizes, o.largest = append(o.sizes, d.size), max(o.largest, d.size)
	own := outlineOf(d)
	for i, bitmap := range own {
		o.bitmaps[i] = append(o.bitmaps[i], bitmap[:]...)
	}
	for i, words := range foldedWords {
		o.folded[i] = append(o.folded[i], own.folded(words)...)
	}
}

var foldedWords = [...]int{1, 2, 4}

// bitsOfWord is how many differing bits a folded word is used for: unlike sets differ in some 24 bits of it.
const bitsOfWord = 16

// within returns the pivots whose sets may differ from another one in at most that many shingles.
func (o *outlines) within(own *outline, most int) []graphs.Pivot {
	o.distances = slices.Grow(o.distances[:0], len(o.sizes))[:len(o.sizes)]
	words, rows := outlineWords, o.bitmaps[0]
	for i := len(foldedWords) - 1; i >= 0 && most <= bitsOfWord*foldedWords[i]; i-- {
		words, rows = foldedWords[i], o.folded[i]
	}
	asmkernels.Hamming(o.distances, own.folded(words), rows)
	o.close = o.close[:0]
	for i, distance := range o.distances {
		if int(distance) <= most {
			o.close = append(o.close, graphs.Pivot(i))
		}
	}
	return o.close
}

// near returns in how many bits the first bitmap of each pivot of a list differs from the given one.
func (o *outlines) near(own *outline, list []graphs.Pivot) []uint16 {
	const many = 8 // pivots in a row, which the kernel compares faster
	o.distances = slices.Grow(o.distances[:0], len(list))[:len(list)]
	for i, end := 0, 0; i < len(list); i = end {
		for end = i + 1; end < len(list) && list[end] == list[end-1]+1; {
			end++
		}
		if end-i >= many {
			asmkernels.Hamming(o.distances[i:end], own[0][:],
				o.bitmaps[0][int(list[i])*outlineWords:(int(list[end-1])+1)*outlineWords])
			continue
		}
		for k, pivot := range list[i:end] {
			o.distances[i+k] = uint16(o.distance(0, pivot, own))
		}
	}
	return o.distances
}

// distance returns in how many bits a bitmap of a pivot differs from the given one.
func (o *outlines) distance(bitmap int, pivot graphs.Pivot, own *outline) int {
	return differing(bitmapAt(o.bitmaps[bitmap], pivot), &own[bitmap])
}

// mostOfAny is mostDiffering for a set and any similar set of no more than largest shingles.
func (s *Similarity) mostOfAny(size, largest int) int {
	if float64(size) < s.Threshold*float64(largest) {
		largest = int(float64(size)/s.Threshold) + 1
	}
	return candidates.MostDiffering(size+largest, s.Threshold)
}

// mostDiffering returns in how many shingles, and so in how many bits of an outline, two documents of these sizes
// differ at most if they are alike, or -1 if they cannot be alike. An estimate, which is of parts of sets, may be too
// large: it bounds nothing.
func (s *Similarity) mostDiffering(a, b int) int {
	switch {
	case !s.sizesAllow(min(a, b), max(a, b)):
		return -1
	case s.Smallest != 0:
		return a + b
	}
	return candidates.MostDiffering(a+b, s.Threshold)
}
