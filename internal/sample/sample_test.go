package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
)

// corpus makes documents whose keys are the elements of their sets: small groups,
// a heap, and copies.
func corpus(random *rand.Rand, n int) []Document {
	var all []Document
	add := func(keys ...uint64) {
		all = append(all, Document{Ref: docref.Ref(len(all)), Digest: random.Uint64(), Set: keys})
	}
	for range n {
		a, b, c := random.Uint64(), random.Uint64(), random.Uint64()
		add(a, b, c)
		switch random.IntN(4) {
		case 0: // a pair of one key
			add(a, random.Uint64(), random.Uint64())
		case 1: // one of all keys, which counts once
			add(a, b, c)
		case 2: // a group of six
			for range 5 {
				add(random.Uint64(), b, random.Uint64())
			}
		}
	}
	heap := random.Uint64()
	for range n / 10 {
		add(random.Uint64(), heap, random.Uint64())
	}
	for range n / 10 {
		copied := all[random.IntN(len(all))]
		copied.Ref = docref.Ref(len(all))
		all = append(all, copied)
	}
	return all
}

// estimator takes the elements of a document's set for its keys.
var estimator = Estimator{
	MaxComparisons: math.MaxInt32,
	AppendRecords: func(records []candidates.Record, d *Document) []candidates.Record {
		return AppendRecords(records, d.Ref, d.Digest, len(d.Set), d.Set)
	},
}

// count counts the candidates of all documents.
func count(all []Document) int {
	var records []candidates.Record
	for i := range all {
		records = AppendRecords(records, all[i].Ref, all[i].Digest, len(all[i].Set), all[i].Set)
	}
	n := 0
	g := candidates.Grouper{
		MaxComparisons: estimator.MaxComparisons,
		Candidate:      func(_, _ *candidates.Record) { n++ },
		Identical:      func(_, _ *candidates.Record) {},
	}
	g.Groups(candidates.Sort(records, make([]candidates.Record, len(records))))
	return n
}

// take takes both samples of documents, from several goroutines.
func take(all []Document, documentCapacity, keyCapacity int) (*Documents, *Keys) {
	documents, keys := NewDocuments(documentCapacity), NewKeys(keyCapacity)
	var workers sync.WaitGroup
	for part := range slices.Chunk(all, len(all)/3+1) {
		workers.Go(func() {
			for _, d := range part {
				if documents.Wants(d.Digest) {
					documents.Add(d)
				}
				if slices.ContainsFunc(d.Set, keys.Wants) {
					keys.Add(AppendRecords(nil, d.Ref, d.Digest, len(d.Set), d.Set))
				}
			}
		})
	}
	workers.Wait()
	return documents, keys
}

func TestWholeCorpusIsCounted(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(1, 2)), 500)
	want := float64(count(all))
	for name, capacities := range map[string][2]int{
		"all keys":                     {100, 1 << 20},
		"all documents":                {1 << 20, 100},
		"all keys and all documents":   {1 << 20, 1 << 20},
		"all keys and hardly anything": {1, 1 << 20},
	} {
		documents, keys := take(all, capacities[0], capacities[1])
		if got := estimator.Estimate(documents, keys); got.Candidates != want || got.Error != 0 {
			t.Errorf("%s: %.0f +- %.1f candidates, want %.0f", name, got.Candidates, got.Error, want)
		}
		if _, share := documents.List(); share < 1 || documents.Overlong() > 0 {
			continue
		}
		if got := estimator.Estimate(documents, nil); got.Candidates != want || got.Error != 0 || got.Keys != 3 {
			t.Errorf("%s, without keys: %.0f +- %.1f candidates of %g keys, want %.0f of 3", name, got.Candidates, got.Error, got.Keys, want)
		}
	}
}

// TestEstimateIsUnbiased draws samples of many corpora and compares with what is
// there: the mean of the error, in standard errors, is nothing, and its spread
// what Error says.
func TestEstimateIsUnbiased(t *testing.T) {
	for _, name := range []string{"documents and keys", "documents only"} {
		t.Run(name, func(t *testing.T) { checkBias(t, name == "documents only") })
	}
}

func checkBias(t *testing.T, withoutKeys bool) {
	const trials = 150
	sum, squares, errors := 0., 0., 0.
	for trial := range trials {
		random := rand.New(rand.NewPCG(uint64(trial), 7))
		all := corpus(random, 1000)
		want := float64(count(all))
		documents, keys := take(all, 3000, 3000)
		_, share := documents.List()
		_, keyShare := keys.Records()
		if share > 0.5 || keyShare > 0.5 {
			t.Fatalf("the samples have %g and %g of all", share, keyShare)
		}
		if withoutKeys {
			keys = nil
		}
		got := estimator.Estimate(documents, keys)
		difference := got.Candidates/want - 1
		sum += difference
		squares += difference * difference
		errors += got.Error * got.Error / want / want
	}
	mean, deviation, said := sum/trials, math.Sqrt(squares/trials), math.Sqrt(errors/trials)
	t.Logf("mean %.4f, deviation %.4f, said %.4f", mean, deviation, said)
	if math.Abs(mean) > 4*deviation/math.Sqrt(trials) {
		t.Errorf("estimates are %.2f %% off on average, their deviation is %.2f %%", 100*mean, 100*deviation)
	}
	if deviation > 1.5*said || said > 2*deviation {
		t.Errorf("the standard error is said to be %.4f, and is %.4f", said, deviation)
	}
}

// TestOrderDoesNotMatter: samples depend on the corpus only.
func TestOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all := corpus(random, 1000)
	documents, keys := take(all, 1000, 1000)
	want := estimator.Estimate(documents, keys)
	wantList, wantShare := documents.List()
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	documents, keys = take(all, 1000, 1000)
	got := estimator.Estimate(documents, keys)
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
	documents := NewDocuments(160)
	for ref := range docref.Ref(5) {
		documents.Add(Document{Ref: 9 - ref, Digest: 1, Set: []uint64{1, 2}})
	}
	documents.Add(Document{Ref: 10, Digest: 2, Set: make([]uint64, 11)})
	list, share := documents.List()
	if len(list) != 1 || list[0].Ref != 9 || list[0].Copies != 5 || share != 1 || documents.Overlong() != 1 {
		t.Errorf("the sample is %+v, %g, %d overlong; want 5 copies, the last at 9, and one overlong", list, share, documents.Overlong())
	}
}

// TestHeapIsNamed: the largest group comes with its size and its first document.
func TestHeapIsNamed(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(5, 6)), 5000)
	documents, keys := take(all, 6000, 3000)
	got := estimator.Estimate(documents, keys)
	if len(got.Groups) == 0 || math.Abs(got.Groups[0].Documents-500) > 150 || math.Abs(got.Groups[0].Candidates-500*499/2) > 75000 {
		t.Errorf("the groups are %+v; want one of some 500 documents first", got.Groups)
	}
}

func TestEachPairOnce(t *testing.T) {
	all := corpus(rand.New(rand.NewPCG(8, 9)), 300)
	documents, _ := take(all, 1<<20, 1)
	seen := map[[2]docref.Ref]bool{}
	share := estimator.EachPair(documents, math.MaxInt, func(a, b *Document) {
		pair := [2]docref.Ref{min(a.Ref, b.Ref), max(a.Ref, b.Ref)}
		if seen[pair] {
			t.Errorf("pair %v came twice", pair)
		}
		seen[pair] = true
	})
	if want := count(all); share != 1 || len(seen) != want {
		t.Errorf("%d pairs, a share of %g; want %d, all", len(seen), share, want)
	}
	if share := estimator.EachPair(documents, 1000, func(_, _ *Document) {}); share == 1 {
		t.Error("a thousand meetings are allowed, and all pairs were visited")
	}
}
