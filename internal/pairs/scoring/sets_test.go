package scoring

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// newSets returns the stage that scores sets with that similarity.
func newSets(t *testing.T, runs work.Runs, similarity Similarity, placeBytes int64) *Sets {
	t.Helper()
	s := &Sets{Inputs: newInputs(t, runs), Similarity: similarity, FirstPart: firstPart, PairBytes: placeBytes}
	if err := s.Setup(); err != nil {
		t.Fatal(err)
	}
	return s
}

// writePlace writes texts and pairs of them, twice each, to a place.
func writePlace(t *testing.T, runs work.Runs, place graphs.Place, texts []text, pairs [][2]int) string {
	t.Helper()
	return worktest.Write(t, runs, func(run *runfile.Writer) error {
		for i := range texts {
			texts[i].Place = place
			if err := texts[i].write(run); err != nil {
				return err
			}
		}
		for _, p := range slices.Concat(pairs, pairs) {
			pair := records.Pair{A: texts[p[0]].Ref, B: texts[p[1]].Ref}
			if err := records.WriteFixed(run, records.PlacePairs, int(place), pair); err != nil {
				return err
			}
		}
		return nil
	})
}

// somePairs returns random pairs, each once.
func somePairs(random *rand.Rand, n int) (pairs [][2]int) {
	for a := range n {
		for b := range a {
			if a/6 == b/6 || random.IntN(10) == 0 {
				pairs = append(pairs, [2]int{b, a})
			}
		}
	}
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs
}

// TestPairs compares with a similarity that is counted one by one, for any memory that the pairs of a place may take.
func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := newTexts(t, random, 40, 0)
	pairs := somePairs(random, len(texts))
	const threshold = .7
	var want []edge
	for _, p := range pairs {
		a, b := &texts[p[0]], &texts[p[1]]
		if shared, union := jaccard(a.set, b.set); float64(shared)/float64(union) >= threshold {
			want = append(want, newEdge(a.Ref, b.Ref, shared, union))
		}
	}
	slices.SortFunc(want, compareEdges)
	if len(want) < 10 || len(want) > len(pairs)-10 {
		t.Fatalf("%d of %d pairs are alike: a test of nothing", len(want), len(pairs))
	}
	const place = 7
	runs := worktest.Runs(t)
	path := writePlace(t, runs, place, texts, pairs)
	for _, placeBytes := range []int64{1 << 20, 8 * 50, 8, 1} {
		s := newSets(t, runs, Similarity{Threshold: threshold}, placeBytes)
		tasks := worktest.Tasks(t, runs, Delivery(), path)
		o := worktest.Do(t, runs, tasks, s.Task)[0]
		if got := readEdges(t, o, firstPart+3*place); !slices.Equal(got, want) {
			t.Errorf("%d bytes a place: edges\n%v, want\n%v", placeBytes, got, want)
		}
		if o.Counts.Candidates != int64(len(pairs)) {
			t.Errorf("%d bytes a place: %d candidates, want %d", placeBytes, o.Counts.Candidates, len(pairs))
		}
	}
}

// TestPairsAreCut: pairs are held at a time only up to about the memory for them.
func TestPairsAreCut(t *testing.T) {
	const documents, atATime = 100, 300
	var pairs [][2]int
	for a := range documents {
		for b := range a {
			pairs = append(pairs, [2]int{b, a})
		}
	}
	runs := worktest.Runs(t)
	path := writePlace(t, runs, 0, newTexts(t, rand.New(rand.NewPCG(1, 2)), documents, 0), pairs)
	_, err := worktest.Try(t, runs, worktest.Tasks(t, runs, Delivery(), path)[0],
		func(_ context.Context, _ work.Task, w *work.TaskContext) error {
			g, err := readSets(w, &w.Hashes)
			if err != nil {
				return err
			}
			last := uint64(0)
			visited := 0
			err = visitPairs(w, g, atATime, func(pairs []uint64) error {
				visited += len(pairs)
				if len(pairs) > atATime {
					t.Errorf("%d pairs at a time", len(pairs))
				}
				for _, pair := range pairs {
					if pair <= last {
						t.Errorf("pair %x comes after %x", pair, last)
					}
					last = pair
				}
				return nil
			})
			if visited != len(pairs) {
				t.Errorf("%d pairs, want %d", visited, len(pairs))
			}
			return err
		})
	if err != nil {
		t.Error(err)
	}
}

// TestPairsOfAGroupFollowOneAnother: documents are numbered as pairs name them, wherever their sets come. So the pairs
// of one group are visited before the pairs of the next.
func TestPairsOfAGroupFollowOneAnother(t *testing.T) {
	pairs := [][2]int{{5, 1}, {5, 3}, {1, 3}, {0, 4}, {0, 2}, {4, 2}} // of documents whose sets alternate
	runs := worktest.Runs(t)
	texts := newTexts(t, rand.New(rand.NewPCG(1, 2)), 6, 0)
	path := writePlace(t, runs, 0, texts, pairs)
	_, err := worktest.Try(t, runs, worktest.Tasks(t, runs, Delivery(), path)[0],
		func(_ context.Context, _ work.Task, w *work.TaskContext) error {
			g, err := readSets(w, &w.Hashes)
			if err != nil {
				return err
			}
			var got [][2]docref.Ref
			err = visitPairs(w, g, len(texts)*len(texts), func(pairs []uint64) error {
				for _, pair := range pairs {
					x, y := unpackPair(pair)
					got = append(got, [2]docref.Ref{g.named[x].ref, g.named[y].ref})
				}
				return nil
			})
			var want [][2]docref.Ref
			for _, p := range pairs {
				want = append(want, [2]docref.Ref{texts[p[0]].Ref, texts[p[1]].Ref})
			}
			if !slices.Equal(got, want) {
				t.Errorf("pairs %v, want %v", got, want)
			}
			return err
		})
	if err != nil {
		t.Error(err)
	}
}

// TestEstimates: if sets are not whole, the similarity is estimated from the smallest hashes of the union, however many
// there are of each set. Then it may not matter whether it reaches the threshold.
func TestEstimates(t *testing.T) {
	for _, size := range []int{51, 128, 300} {
		t.Run(strconv.Itoa(size), func(t *testing.T) { checkEstimates(t, size) })
	}
}

func checkEstimates(t *testing.T, size int) {
	random := rand.New(rand.NewPCG(3, 4))
	base := newSet(random, 600)
	texts := []text{
		{set: base},
		{set: vary(random, base, 20)},
		{set: vary(random, base, 3)},
		{set: newSet(random, 600)},
		{set: base[:50]},
		{set: base[:49]},
	}
	for i := range texts {
		texts[i].Ref = newRef(t, false, i)
		texts[i].stored = sketch.BottomK(texts[i].set, size)
	}
	pairs := [][2]int{{0, 1}, {0, 2}, {0, 3}, {4, 5}}
	runs := worktest.Runs(t)
	path := writePlace(t, runs, 0, texts, pairs)
	for _, c := range []struct {
		acceptsAll bool
		want       []int // expected edges of the pairs
	}{{false, []int{0, 3}}, {true, []int{0, 1, 2, 3}}} {
		var want []edge
		for _, i := range c.want {
			a, b := &texts[pairs[i][0]], &texts[pairs[i][1]]
			smallest := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.set, b.set))))
			smallest = smallest[:min(size, len(smallest))]
			shared := 0
			for _, hash := range smallest {
				if slices.Contains(a.set, hash) && slices.Contains(b.set, hash) {
					shared++
				}
			}
			e := newEdge(a.Ref, b.Ref, shared, len(smallest))
			e.isEstimate = i != 3 // pair 3 has all of its few hashes
			want = append(want, e)
		}
		s := newSets(t, runs, Similarity{Threshold: .8, Smallest: size, AcceptsAll: c.acceptsAll}, 1<<20)
		o := worktest.Do(t, runs, worktest.Tasks(t, runs, Delivery(), path), s.Task)[0]
		if got := readEdges(t, o, firstPart); !slices.Equal(got, want) {
			t.Errorf("all are accepted: %v; edges %v, want %v", c.acceptsAll, got, want)
		}
	}
}

// TestBlocks compares all pairs of texts, in one block or many, with similarities that are counted one by one. Two
// documents of the reference are never compared, unless one of them equals a document of the input.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	texts := newTexts(t, random, 48, 4)
	equal := &texts[12] // a document of the reference stands for one of the input as well
	equal.Second = newRef(t, false, 900)
	isReference := func(d *text) bool { return d.Ref.File() == 0 }
	const threshold = .5
	var want []edge
	isThroughEqual := false
	for i := range texts {
		for k := range i {
			a, b := &texts[k], &texts[i]
			shared, union := jaccard(a.set, b.set)
			if float64(shared)/float64(union) < threshold {
				continue
			}
			e := newEdge(a.Ref, b.Ref, shared, union)
			if isReference(a) && isReference(b) {
				if a != equal && b != equal {
					continue
				}
				other := a
				if a == equal {
					other = b
				}
				e = newEdge(other.Ref, equal.Second, shared, union)
				isThroughEqual = true
			}
			want = append(want, e)
		}
	}
	slices.SortFunc(want, compareEdges)
	if len(want) < 30 || !isThroughEqual {
		t.Fatalf("%d edges, through an equal document: %v: a test of nothing", len(want), isThroughEqual)
	}
	for _, capacity := range []int64{1, 150, 1 << 20} {
		runs := worktest.Runs(t)
		path, blocks := writeBlocks(t, runs, texts, capacity)
		s := newSets(t, runs, Similarity{Threshold: threshold}, 1<<20)
		tasks := worktest.Tasks(t, runs, Delivery(), path)
		if len(tasks) != blocks {
			t.Fatalf("%d tasks for %d blocks", len(tasks), blocks)
		}
		var got []edge
		compared := int64(0)
		for _, o := range worktest.Do(t, runs, tasks, s.Task) {
			got = append(got, readEdges(t, o, firstPart+3*o.Number)...)
			compared += o.Counts.Candidates
		}
		slices.SortFunc(got, compareEdges)
		if !slices.Equal(got, want) {
			t.Errorf("%d blocks: edges\n%v, want\n%v", blocks, got, want)
		}
		if all := int64(len(texts) * (len(texts) - 1) / 2); compared < int64(len(want)) || compared > all {
			t.Errorf("%d blocks: %d pairs compared, %d edges", blocks, compared, len(want))
		}
	}
}

// writeBlocks cuts texts into blocks and writes them.
func writeBlocks(t *testing.T, runs work.Runs, texts []text, capacity int64) (path string, blocks int) {
	t.Helper()
	var sizes []graphs.Sized
	for i := range texts {
		sizes = append(sizes, graphs.Sized{Ref: texts[i].Ref, Size: uint32(len(texts[i].set))})
	}
	of := graphs.Blocks(sizes, capacity)
	path = worktest.Write(t, runs, func(run *runfile.Writer) error {
		for i, d := range sizes {
			at := slices.IndexFunc(texts, func(text text) bool { return text.Ref == d.Ref })
			texts[at].Place = of[i]
			if err := texts[at].write(run); err != nil {
				return err
			}
			if _, err := run.Record(records.Blocks, int(of[i]), 1); err != nil {
				return err
			}
		}
		return nil
	})
	return path, int(of[len(of)-1]) + 1
}

// TestSetsFaults: a missing set is reported, and so is a damaged run file.
func TestSetsFaults(t *testing.T) {
	texts := newTexts(t, rand.New(rand.NewPCG(7, 8)), 3, 0)
	absent := newRef(t, false, 999)
	for _, c := range []struct {
		name, want string
		write      func(run *runfile.Writer) error
	}{
		{"no first document", "the set of document 1099511628775 is missing", func(run *runfile.Writer) error {
			return records.WriteFixed(run, records.PlacePairs, 0, records.Pair{A: absent, B: texts[0].Ref})
		}},
		{"no second document", "the set of document 1099511628775 is missing", func(run *runfile.Writer) error {
			return records.WriteFixed(run, records.PlacePairs, 0, records.Pair{A: texts[0].Ref, B: absent})
		}},
		{"no documents of a block", "the sets of block 1 are missing", func(run *runfile.Writer) error {
			_, err := run.Record(records.Blocks, 1, 1)
			return err
		}},
		{"no documents of the block before", "the sets of block 1 are missing", func(run *runfile.Writer) error {
			if _, err := run.Record(records.Blocks, 2, 1); err != nil {
				return err
			}
			other := texts[1]
			other.Place = 2
			return other.write(run)
		}},
	} {
		runs := worktest.Runs(t)
		path := worktest.Write(t, runs, func(run *runfile.Writer) error {
			if err := texts[0].write(run); err != nil {
				return err
			}
			return c.write(run)
		})
		s := newSets(t, runs, Similarity{}, 1<<20)
		for _, task := range worktest.Tasks(t, runs, Delivery(), path) {
			if _, err := worktest.Try(t, runs, task, s.Task); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		}
	}
	runs := worktest.Runs(t)
	path := writePlace(t, runs, 0, texts, [][2]int{{0, 1}})
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packed[0] ^= 1
	if err := os.WriteFile(path, packed, 0o666); err != nil {
		t.Fatal(err)
	}
	s := newSets(t, runs, Similarity{}, 1<<20)
	if _, err := worktest.Try(t, runs, worktest.Tasks(t, runs, Delivery(), path)[0], s.Task); err == nil {
		t.Error("a damaged run file is taken")
	}
	if (&Sets{Inputs: s.Inputs + "x"}).Setup() == nil || (&HotGroups{Inputs: s.Inputs + "x"}).Setup() == nil {
		t.Error("no inputs, yet no error")
	}
}
