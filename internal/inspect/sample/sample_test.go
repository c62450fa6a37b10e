package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// corpus makes documents whose keys are the elements of their sets. There are small groups, a hot group, and
// copies.
func corpus(random *rand.Rand, n int) []Document {
	var all []Document
	add := func(keys ...uint64) {
		all = append(all,
			Document{Ref: docref.Ref(len(all)), Hash: random.Uint64(), Digest: random.Uint64(), Set: keys})
	}
	for range n {
		a, b, c := random.Uint64(), random.Uint64(), random.Uint64()
		add(a, b, c)
		switch random.IntN(4) {
		case 0: // a pair that shares one key
			add(a, random.Uint64(), random.Uint64())
		case 1: // a pair that shares all keys, which counts once
			add(a, b, c)
		case 2: // a group of six
			for range 5 {
				add(random.Uint64(), b, random.Uint64())
			}
		}
	}
	hotGroup := random.Uint64()
	for range n / 10 {
		add(random.Uint64(), hotGroup, random.Uint64())
	}
	for range n / 10 {
		copied := all[random.IntN(len(all))]
		copied.Ref = docref.Ref(len(all))
		all = append(all, copied)
	}
	return all
}

// estimator takes the elements of a document's set as its keys.
var estimator = Estimator{
	MostRecords: 1 << 20,
	Compare: func(a, b *Document) float64 {
		shared := 0.
		for _, element := range a.Set {
			if slices.Contains(b.Set, element) {
				shared++
			}
		}
		return shared / (float64(len(a.Set)+len(b.Set)) - shared)
	},
	AppendRecords: func(records []candidates.Record, d *Document) []candidates.Record {
		return appendRecords(records, d)
	},
}

// count counts the candidates of all documents.
func count(all []Document) int {
	var records []candidates.Record
	for i := range all {
		records = appendRecords(records, &all[i])
	}
	n := 0
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64,
		Candidate:      func(_, _ *candidates.Record) { n++ },
		Identical:      func(_, _ *candidates.Record) {},
	}
	g.Groups(candidates.Sort(records, make([]candidates.Record, len(records))))
	return n
}

// take takes a sample, from several goroutines.
func take(all []Document, capacity int) *Documents {
	documents := NewDocuments(capacity, 0)
	var workers sync.WaitGroup
	for part := range slices.Chunk(all, len(all)/3+1) {
		workers.Go(func() {
			for _, d := range part {
				if documents.Wants(d.Hash) {
					documents.Add(d)
				}
			}
		})
	}
	workers.Wait()
	return documents
}

// estimate makes an estimate from a sample.
func estimate(e Estimator, documents *Documents) Estimate {
	list, share := documents.List()
	return e.Estimate(list, share, new(Memory))
}

func TestWholeCorpusIsCounted(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(1, 2)), 500)
	want := float64(count(all))
	got := estimate(estimator, take(all, 1<<20))
	if got.Candidates != want || got.Error != 0 || got.Keys != 3 || got.Share != 1 {
		t.Errorf("%.0f +- %.1f candidates of %g keys, want %.0f of 3", got.Candidates, got.Error, got.Keys, want)
	}
	inPairs := map[docref.Ref]bool{}
	for pair := range pairsOf(all) {
		inPairs[pair[0]], inPairs[pair[1]] = true, true
	}
	if n := float64(len(inPairs)); got.DocumentElements != 3*n || float64(len(got.Similar))*got.Weight != want {
		t.Errorf("%+v; want %g documents of 3 elements", got, n)
	}
}

// pairsOf compares all pairs. Of identical documents it takes the last.
func pairsOf(all []Document) map[[2]docref.Ref]bool {
	documents, _ := take(all, 1<<20).List()
	pairs := map[[2]docref.Ref]bool{}
	for i := range documents {
		for j := range i {
			for k := range documents[i].Set {
				if documents[i].Set[k] == documents[j].Set[k] {
					pairs[[2]docref.Ref{documents[j].Ref, documents[i].Ref}] = true
				}
			}
		}
	}
	return pairs
}

// TestEstimateIsUnbiased draws samples of many corpora and compares estimates with the truth. The mean of the
// errors is zero within chance, and their spread is what Error says. Nine of ten intervals hold the truth.
func TestEstimateIsUnbiased(t *testing.T) {
	const trials = 150
	sum, squares, errors, held := 0., 0., 0., 0
	for trial := range trials {
		random := rand.New(rand.NewPCG(uint64(trial), 7))
		all := corpus(random, 1000)
		want := float64(count(all))
		documents := take(all, 3000)
		if _, share := documents.List(); share > 0.5 {
			t.Fatalf("the sample has %g of all", share)
		}
		got := estimate(estimator, documents)
		difference := got.Candidates/want - 1
		sum += difference
		squares += difference * difference
		errors += got.Error * got.Error / want / want
		if got.Low <= want && want <= got.High {
			held++
		}
	}
	mean, deviation, said := sum/trials, math.Sqrt(squares/trials), math.Sqrt(errors/trials)
	t.Logf("mean %.4f, deviation %.4f, said %.4f", mean, deviation, said)
	if math.Abs(mean) > 4*deviation/math.Sqrt(trials) {
		t.Errorf("estimates are %.2f %% off on average, their deviation is %.2f %%", 100*mean, 100*deviation)
	}
	if deviation > 1.5*said || said > 2*deviation {
		t.Errorf("the standard error is said to be %.4f, and is %.4f", said, deviation)
	}
	if held < trials*9/10 {
		t.Errorf("%d of %d intervals hold the truth", held, trials)
	}
}

// TestUnseenGroup: the interval holds the pairs of a group that the sample hardly shows.
func TestUnseenGroup(t *testing.T) {
	held := 0
	const trials, documents, grouped = 200, 800, 35
	for trial := range trials {
		random := rand.New(rand.NewPCG(uint64(trial), 9))
		sampled := NewDocuments(1<<20, 3)
		for i := range documents {
			d := Document{
				Ref:    docref.Ref(i),
				Hash:   random.Uint64(),
				Digest: random.Uint64(),
				Set:    []uint64{random.Uint64()},
			}
			if i < grouped {
				d.Set[0] = 1
			}
			if sampled.Wants(d.Hash) {
				sampled.Add(d)
			}
		}
		if got := estimate(estimator, sampled); got.Low <= grouped*(grouped-1)/2 && grouped*(grouped-1)/2 <= got.High {
			held++
		}
	}
	if held < trials*9/10 {
		t.Errorf("%d of %d intervals hold the pairs of the group", held, trials)
	}
}

// TestOrderDoesNotMatter: samples depend on the corpus only.
func TestOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all := corpus(random, 1000)
	documents := take(all, 1000)
	want := estimate(estimator, documents)
	wantList, wantShare := documents.List()
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	documents = take(all, 1000)
	got := estimate(estimator, documents)
	list, share := documents.List()
	if got.Candidates != want.Candidates || got.Error != want.Error || !slices.Equal(got.Groups, want.Groups) {
		t.Errorf("in another order the estimate is %+v, not %+v", got, want)
	}
	if share != wantShare || !slices.EqualFunc(list, wantList, func(a, b Document) bool {
		return a.Ref == b.Ref && a.Copies == b.Copies && slices.Equal(a.Set, b.Set)
	}) {
		t.Error("in another order other documents are sampled")
	}
}

func TestCopiesAndOverlongDocuments(t *testing.T) {
	documents := NewDocuments(160, 0)
	for ref := range docref.Ref(5) {
		documents.Add(Document{Ref: 9 - ref, Hash: uint64(ref % 2), Digest: 1, Set: []uint64{1, 2}})
	}
	documents.Add(Document{Ref: 10, Digest: 2, Set: make([]uint64, 11)})
	list, share := documents.List()
	if len(list) != 1 || list[0].Ref != 9 || list[0].Copies != 5 || list[0].Texts != 2 || share != 1 ||
		documents.Overlong() != 1 {
		t.Errorf("the sample is %+v, %g, %d overlong; want 5 copies of 2 texts, the last at 9, and one overlong", list,
			share, documents.Overlong())
	}
	if equal, others := Identical(list, share); equal != 3 || others != 1 {
		t.Errorf("%g have the text of an earlier one and %g another text, want 3 and 1", equal, others)
	}
}

// TestIdenticalOfASample: the estimate is right for classes of two texts and for classes of many.
func TestIdenticalOfASample(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, texts := range []int{1, 2, 5, 200} {
		documents := NewDocuments(1<<20, 3)
		const all = 40000
		for i := range all {
			if hash := random.Uint64(); documents.Wants(hash) {
				documents.Add(Document{Ref: docref.Ref(i), Hash: hash, Digest: uint64(i / texts), Set: []uint64{1}})
			}
		}
		list, share := documents.List()
		want := float64(all - all/texts)
		if _, got := Identical(list, share); math.Abs(got-want) > 0.15*want {
			t.Errorf("classes of %d texts: %.0f are identical to an earlier one, want %.0f", texts, got, want)
		}
	}
}

// TestHotGroupIsNamed: the largest group comes with its size and its first document.
func TestHotGroupIsNamed(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(5, 6)), 5000)
	got := estimate(estimator, take(all, 6000))
	if len(got.Groups) == 0 || math.Abs(got.Groups[0].Documents-500) > 150 ||
		math.Abs(got.Groups[0].Candidates-500*499/2) > 75000 {
		t.Errorf("the groups are %+v; want one of some 500 documents first", got.Groups)
	}
}

// TestDenseGroupComesToPivots: the pairs of a group that is too large are not candidates. Its documents are
// compared with pivots instead.
func TestDenseGroupComesToPivots(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(5, 6)), 5000)
	for _, capacity := range []int{1 << 20, 10000} {
		e := estimator
		e.Threshold, e.OversizedPairs = 0.3, 1000
		e.LargestCompared = func(pairs []float64) float64 {
			if len(pairs) != 1 {
				t.Errorf("%d groups are crowded, want one", len(pairs))
			}
			return 10000
		}
		e.Pivots = func(int) *graphs.Pivots {
			return graphs.NewPivots(1<<30, e.Threshold, func(n int) int { return n })
		}
		got := estimate(e, take(all, capacity))
		if math.Abs(got.HotGroupDocuments-500) > 150 || got.HotGroupCandidates > 64*got.HotGroupDocuments ||
			!got.Groups[0].Dense || got.Candidates > 60000 {
			t.Errorf(
				"a heap of %.0f documents and %.0f candidates, %.0f candidates in all; want a heap of 500 documents",
				got.HotGroupDocuments, got.HotGroupCandidates, got.Candidates)
		}
	}
}

// appendRecords takes the hashes in a document's set as its keys.
func appendRecords(records []candidates.Record, d *Document) []candidates.Record {
	return candidates.AppendHashed(records, candidates.Record{
		Ref:    d.Ref,
		Digest: digest.Digest{d.Digest},
		Size:   uint32(len(d.Set)),
	}, d.Set)
}
