package scoring

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// scoreHotGroups scores the hot groups of a place that is told to expect a number of documents.
func scoreHotGroups(t *testing.T, h *HotGroups, place graphs.Place, texts []text, documents int) (work.Outcome, error) {
	t.Helper()
	runs := worktest.Runs(t)
	return worktest.Try(t, runs, writeHotGroups(t, runs, h, place, texts, documents), h.Task)
}

// writeHotGroups sets the stage up and writes texts to a place of hot groups. It returns the task of the place.
func writeHotGroups(t *testing.T, runs work.Runs, h *HotGroups, place graphs.Place, texts []text, size int) work.Task {
	t.Helper()
	path := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for i := range texts {
			texts[i].Place = place
			if err := texts[i].write(run); err != nil {
				return err
			}
		}
		documents := uint32(size)
		return records.Write(run, records.HotGroups, int(place), &documents)
	})
	h.Inputs, h.FirstPart = newInputs(t, runs), firstPart
	if err := h.Setup(); err != nil {
		t.Fatal(err)
	}
	return worktest.Tasks(t, runs, HotGroupsDelivery(), path)[0]
}

// class returns the documents that a text stands for.
func (d *text) class() candidates.Class {
	if d.Second == 0 {
		return candidates.Class{First: d.Ref, Second: d.Ref}
	}
	return candidates.Class{First: d.Ref, Second: d.Second}
}

// joined returns the edge of a pivot and a text, if they are alike.
func joined(pivot, d *text, threshold float64, firstInput docref.Ref) (e edge, similarity float64, ok bool) {
	x, y, compared := candidates.Ends(pivot.class(), d.class(), firstInput)
	shared, union := jaccard(pivot.set, d.set)
	e = newEdge(x, y, shared, union)
	e.isHotGroup = true
	similarity = float64(shared) / float64(union)
	return e, similarity, compared && similarity >= threshold
}

// led is what a plain loop finds in the texts of one hot group.
type led struct {
	pivots        []*text
	best          map[*text]edge  // edge to the most similar pivot
	bestReference map[*text]edge  // edge to the most similar pivot of the reference
	all           map[edge]bool   // all edges between texts that are alike
	star          map[*text]*text // the most similar pivot, or the text itself
}

// lead goes through the texts of a hot group in the order of preference.
func lead(texts []*text, threshold float64, firstInput docref.Ref) led {
	l := led{best: map[*text]edge{}, bestReference: map[*text]edge{}, all: map[edge]bool{}, star: map[*text]*text{}}
	for _, d := range texts {
		most, mostReference := 0., 0.
		for _, pivot := range l.pivots {
			e, similarity, ok := joined(pivot, d, threshold, firstInput)
			if !ok {
				continue
			}
			l.all[e] = true
			if similarity > most {
				most, l.best[d], l.star[d] = similarity, e, pivot
			}
			if pivot.Ref < firstInput && similarity > mostReference {
				mostReference, l.bestReference[d] = similarity, e
			}
		}
		if most == 0 || d.Ref < firstInput {
			l.pivots = append(l.pivots, d)
		}
		if most == 0 {
			l.star[d] = d
		}
	}
	return l
}

// TestHotGroups compares with plain loops. The same documents lead. Each document has an edge to its most similar
// pivot, among all and in the reference. Documents are joined as if all edges were written.
func TestHotGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	texts := newTexts(t, random, 72, 7)
	texts[7].Second = newRef(t, false, 900) // of the reference, and equal to one of the input
	for i := range texts {
		texts[i].HotGroup = records.HotGroupNumber(i / 6 % 2)
		if texts[i].Ref >= newRef(t, false, 0) {
			texts[i].priority = preference.Priority(10 + random.IntN(5))
		}
	}
	texts[40].set, texts[46].set = texts[41].set, texts[41].set // in two hot groups
	slices.SortFunc(texts, func(a, b text) int { return cmp.Compare(a.Ref, b.Ref) })
	const threshold = .6
	firstInput := newRef(t, false, 0)
	for _, c := range []struct {
		name        string
		similarity  Similarity
		listedPairs int64
	}{
		{"all pivots", Similarity{Threshold: threshold}, 1 << 40},
		{"all stars", Similarity{Threshold: threshold}, 0},
		{"sketches", Similarity{Threshold: threshold, Smallest: 128}, 6},
		{"without verification", Similarity{Threshold: threshold, Smallest: 128, AcceptsAll: true}, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			const place = 5
			o, err := scoreHotGroups(t, &HotGroups{Similarity: c.similarity, ListedPairs: c.listedPairs}, place, texts,
				len(texts))
			if err != nil {
				t.Fatal(err)
			}
			byHotGroup := [2][]*text{}
			for i := range texts {
				byHotGroup[texts[i].HotGroup] = append(byHotGroup[texts[i].HotGroup], &texts[i])
			}
			edges := readEdges(t, o, firstPart+3*place+1)
			left := slices.Clone(edges)
			stars := map[docref.Ref]docref.Ref{}
			pairs := int64(0)
			for _, of := range byHotGroup {
				slices.SortFunc(of, func(a, b *text) int { return ranked(a).Compare(ranked(b)) })
				l := lead(of, threshold, firstInput)
				left = checkEdges(t, l, left)
				l.stars(c.listedPairs, stars)
				references := 0
				for _, d := range of {
					if max(d.Ref, d.Second) < firstInput {
						references++
					}
				}
				pairs += candidates.PairsOf(int64(len(of)), int64(references))
			}
			if len(left) > 0 {
				t.Errorf("edges that are none: %v", left)
			}
			if o.Skipped.Groups != 2 || o.Skipped.Pairs+o.Counts.Candidates != pairs || o.Skipped.Kept != 0 ||
				o.Counts.Candidates < int64(len(edges)) {
				t.Errorf("%d pairs compared and %+v, want %d in 2 hot groups", o.Counts.Candidates, o.Skipped, pairs)
			}
			checkStars(t, o, place, stars)
		})
	}
}

// ranked returns a text with its priority.
func ranked(d *text) preference.Ranked { return preference.Ranked{Ref: d.Ref, Priority: d.priority} }

// checkEdges checks the edges of one hot group and returns the others.
func checkEdges(t *testing.T, l led, edges []edge) (others []edge) {
	t.Helper()
	if len(l.pivots) < 5 || len(l.best) < 5 {
		t.Fatalf("%d pivots and %d documents like them: a test of nothing", len(l.pivots), len(l.best))
	}
	for d, best := range l.best {
		if !slices.Contains(edges, best) {
			t.Errorf("document %d has no edge to the most similar pivot: %v", d.Ref, best)
		}
	}
	for d, best := range l.bestReference {
		if !slices.Contains(edges, best) {
			t.Errorf("document %d has no edge to the most similar pivot of the reference: %v", d.Ref, best)
		}
	}
	part := map[docref.Ref]docref.Ref{}
	var find func(ref docref.Ref) docref.Ref
	find = func(ref docref.Ref) docref.Ref {
		if up, known := part[ref]; known && up != ref {
			return find(up)
		}
		return ref
	}
	for _, e := range edges {
		if !l.all[e] {
			others = append(others, e)
			continue
		}
		part[find(e.a)] = find(e.b)
	}
	for e := range l.all {
		if find(e.a) != find(e.b) {
			t.Errorf("%v is not joined by edges", e)
		}
	}
	return others
}

// stars adds the documents of stars with more pairs than listedPairs, with their pivots.
func (l *led) stars(listedPairs int64, stars map[docref.Ref]docref.Ref) {
	sizes := map[*text]int64{}
	for _, pivot := range l.star {
		sizes[pivot]++
	}
	for _, pivot := range l.pivots {
		if l.star[pivot] != pivot {
			sizes[pivot]++ // a pivot of the reference may be like another pivot
		}
	}
	for d, pivot := range l.star {
		if n := sizes[pivot]; n*(n-1)/2 <= listedPairs {
			continue
		}
		stars[d.Ref] = pivot.Ref
		if d.Second != 0 {
			stars[d.Second] = pivot.Ref
		}
	}
}

// checkStars checks the stars that were written.
func checkStars(t *testing.T, o work.Outcome, place int, want map[docref.Ref]docref.Ref) {
	t.Helper()
	n := 0
	for packed := worktest.Read(t, records.Stars, o.Run)[place]; len(packed) > 0; packed = packed[records.PairSize:] {
		n++
		if pair := records.Get[records.Pair](packed); want[pair.A] != pair.B {
			t.Errorf("document %d is like pivot %d, want %d", pair.A, pair.B, want[pair.A])
		}
	}
	if n != len(want) {
		t.Errorf("%d documents of stars, want %d", n, len(want))
	}
}

// TestUncheckedPivots: a document too large to lead is reported, if another one like it may be kept as well.
func TestUncheckedPivots(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	large := newSet(random, 300_000)
	small := newSet(random, 50)
	texts := []text{{set: large}, {set: vary(random, large, 100)}, {set: small}, {set: vary(random, small, 20)}}
	for i := range texts {
		texts[i].Ref = newRef(t, false, i)
	}
	o, err := scoreHotGroups(t, &HotGroups{Similarity: Similarity{Threshold: .7}}, 0, texts, len(texts))
	if err != nil {
		t.Fatal(err)
	}
	var got []docref.Ref
	const split = 1
	for packed := worktest.Read(
		t, records.Unchecked, o.Run,
	)[split]; len(packed) > 0; packed = packed[records.RefSize:] {
		got = append(got, records.GetRef(packed))
	}
	if want := []docref.Ref{texts[0].Ref, texts[1].Ref}; !slices.Equal(got, want) || o.Skipped.Kept != 2 {
		t.Errorf("documents %d were not compared with all pivots, %d are told of; want %d", got, o.Skipped.Kept, want)
	}
	if edges := readEdges(t, o, firstPart+1); len(edges) != 1 || edges[0].a != texts[2].Ref ||
		edges[0].b != texts[3].Ref {
		t.Errorf("edges %v, want one of the small documents", edges)
	}
}

// TestDamagedHotGroups: a hot group with missing sets is reported.
func TestDamagedHotGroups(t *testing.T) {
	texts := newTexts(t, rand.New(rand.NewPCG(13, 14)), 3, 0)
	const want = "hot groups have 4 documents, but 3 sets came"
	if _, err := scoreHotGroups(t, &HotGroups{Similarity: Similarity{Threshold: .7}}, 0, texts, 4); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
