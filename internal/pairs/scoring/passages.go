package scoring

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// mostSpans is the number of spans that are listed of a pair: the longest ones.
const mostSpans = 16

// timesIndexed is how many times its stored bytes a sequence takes when it is indexed.
const timesIndexed = 5

// Passages finds what the candidate pairs of a place have in common, and where.
type Passages struct {
	// Threshold is the least share of the shingles of one of two alike documents that the other contains, from 0 to 1.
	Threshold float64
	// Excerpt is the number of words of the shortest common passage that makes two documents alike, however small a
	// share of them it is; 0: no passage does.
	Excerpt int
	// Shingle is the number of words of a shingle.
	Shingle int
	// Rarity is the least rarity of what two alike documents share: each distinct shingle in one of their listed spans
	// counts one, over the number of other documents that have it. 0 turns rarity off.
	Rarity float64
	// FirstPart is as in [Sets].
	FirstPart int
}

// Task compares the pairs of a place. It fails if a sequence that it needs is missing.
func (p *Passages) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	texts, err := readTexts(w)
	if err != nil {
		return err
	}
	pairs, err := texts.readPairs(w)
	if err != nil {
		return err
	}
	var rare weigher
	if p.Rarity > 0 {
		if rare.rarities, err = common.ReadRarities(t.Catalog); err != nil {
			return err
		}
		w.Hold(rare.rarities)
	}
	edges := edgeWriter{run: &w.Run, number: setsPart(p.FirstPart, graphs.Place(t.Number))}
	matcher := sketch.NewMatcher(p.Shingle)
	var unlike screening
	for _, pair := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, b := unpackPair(pair)
		if unlike.isWorthwhile() && !p.mayBeAlike(matcher, texts.indexed[a], texts.indexed[b]) {
			unlike.found++
			continue
		}
		w.Figures.Compared++
		both, alike := p.compare(matcher, texts.indexed[a], texts.indexed[b])
		if !alike {
			continue
		}
		if p.Rarity > 0 {
			both.rarity = rare.rarity(texts.indexed[a], texts.indexed[b], both.listed())
			if float64(both.rarity) < p.Rarity*records.RarityUnit {
				continue
			}
		}
		if err := writePassages(&edges, &texts.documents[a], &texts.documents[b], &both); err != nil {
			return err
		}
	}
	w.Outcome.Counts.Candidates += int64(len(pairs))
	w.Figures.Records += int64(len(pairs))
	return edges.finish()
}

type inCommon struct {
	shared int           // shingles
	spans  []sketch.Span // the longest first
	rarity uint32        // in the unit of [records.RarityUnit]; 0 where nobody asks
}

func (c *inCommon) listed() []sketch.Span { return c.spans[:min(len(c.spans), mostSpans)] }

// screening says whether to look for pairs of a place that are surely not alike: among every sixteenth pair, and among
// all pairs while at least a quarter of those tried are found.
type screening struct{ pairs, tried, found int }

func (s *screening) isWorthwhile() bool {
	s.pairs++
	isTried := s.pairs%16 == 0 || 4*s.found >= s.tried
	if isTried {
		s.tried++
	}
	return isTried
}

// mayBeAlike reports whether texts may share enough shingles, or a long enough passage.
func (p *Passages) mayBeAlike(matcher *sketch.Matcher, a, b *sketch.IndexedSequence) bool {
	return matcher.MayBeAlike(a, b, max(int(p.Threshold*float64(min(a.Distinct(), b.Distinct()))), 1), p.Excerpt)
}

func (p *Passages) compare(matcher *sketch.Matcher, a, b *sketch.IndexedSequence) (common inCommon, alike bool) {
	shared := matcher.Compare(a, b)
	if shared > 0 && float64(shared)/float64(min(a.Distinct(), b.Distinct())) >= p.Threshold {
		return inCommon{shared: shared, spans: matcher.Spans()}, true
	}
	if p.Excerpt == 0 || !matcher.MayReach(p.Excerpt) {
		return inCommon{}, false
	}
	spans := matcher.Spans()
	return inCommon{shared: shared, spans: spans}, int(spans[0].Words) >= p.Excerpt
}

type texts struct {
	documents []document                // by number
	indexed   []*sketch.IndexedSequence // by number
	numbers   graphs.Numbering[number]
}

func readTexts(w *work.TaskContext) (*texts, error) {
	if err := w.Expect(timesIndexed * runfile.SizeOf(w.Pieces, records.PlaceSets)); err != nil {
		return nil, err
	}
	all := &texts{}
	err := eachSet(w, func(s *records.PlacedSet, _, _ int) error {
		sequence, err := sketchblock.ParseSequence(sketchblock.Sequence{}, s.Set)
		if err != nil {
			return fmt.Errorf("document %d: %w", s.Ref, err)
		}
		indexed := sketch.NewIndexedSequence(sketch.Sequence(sequence))
		all.numbers.Add(uint64(s.Ref))
		all.documents = append(all.documents, document{ref: s.Ref, size: indexed.Distinct()})
		all.indexed = append(all.indexed, indexed)
		return nil
	})
	return all, err
}

// readPairs returns the pairs of a place, each once, however many keys it shares. The first of two documents of the
// corpus is the first of the pair.
func (t *texts) readPairs(w *work.TaskContext) ([]uint64, error) {
	packed, err := w.Read(0, records.PlacePairs)
	if err != nil {
		return nil, err
	}
	pairs := make([]uint64, 0, 2*len(packed)/records.PairSize)
	for pair := range records.Each[records.Pair](packed) {
		a, hasA := t.numbers.Find(uint64(min(pair.A, pair.B)))
		b, hasB := t.numbers.Find(uint64(max(pair.A, pair.B)))
		if !hasA || !hasB {
			return nil, fmt.Errorf("the sequence of document %d or %d is missing", pair.A, pair.B)
		}
		pairs = append(pairs, packPair(a, b))
	}
	return sortPairs(pairs, len(t.documents)), nil
}

func writePassages(edges *edgeWriter, a, b *document, common *inCommon) error {
	if err := edges.add(a, b, records.NewScore(common.shared, a.size+b.size-common.shared, false)); err != nil {
		return err
	}
	listed := common.listed()
	more := uint32(len(common.spans) - len(listed))
	for _, s := range listed {
		span := records.Span[graphs.Node]{A: a.node, B: b.node, Span: s, More: more, Rarity: common.rarity}
		if err := records.WriteFixed(edges.run, records.Spans, edges.number, span); err != nil {
			return err
		}
	}
	return nil
}

// weigher tells how rare it is what two documents share. It reuses its buffers.
type weigher struct {
	rarities *common.Rarities

	inA, inB, shared []uint64
}

// rarity returns the sum of the rarities of the distinct shingles that lie in one of the spans in both texts.
func (r *weigher) rarity(a, b *sketch.IndexedSequence, spans []sketch.Span) (sum uint32) {
	r.shared = r.shared[:0]
	for _, s := range spans {
		r.inA, r.inB = within(r.inA[:0], a, s.StartA, s.EndA), within(r.inB[:0], b, s.StartB, s.EndB)
		r.shared = appendBoth(r.shared, r.inA, r.inB)
	}
	slices.Sort(r.shared)
	for _, shingle := range slices.Compact(r.shared) {
		sum += r.rarities.Of(shingle)
	}
	return sum
}

// within returns the distinct shingles of a stretch of a text, ascending, in the given memory.
func within(memory []uint64, q *sketch.IndexedSequence, start, end uint32) []uint64 {
	first, _ := slices.BinarySearch(q.Starts, start)
	for i := first; i < q.Len() && q.Ends[i] <= end; i++ {
		memory = append(memory, q.Shingles[i])
	}
	slices.Sort(memory)
	return slices.Compact(memory)
}

// appendBoth appends the hashes that are in both sets, which ascend.
func appendBoth(both, a, b []uint64) []uint64 {
	for _, hash := range a {
		for len(b) > 0 && b[0] < hash {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == hash {
			both = append(both, hash)
		}
	}
	return both
}
