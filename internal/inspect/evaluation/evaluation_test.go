package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/quoting"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// TestKnownValues holds values that others have published.
func TestKnownValues(t *testing.T) {
	// The example of Bagga and Baldwin: chains of 5, 2 and 5 mentions; one answer
	// joins the last two (they print 76 %), another the first and the last (58 %).
	truth := []Document{0, 0, 0, 0, 0, 5, 5, 7, 7, 7, 7, 7}
	for _, c := range []struct {
		found     []Document
		precision float64
	}{
		{[]Document{0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5}, 16.0 / 21},
		{[]Document{0, 0, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0}, 7.0 / 12},
	} {
		if got := Compare(truth, c.found, 0).BCubed; !near(got.Precision, c.precision) || got.Recall != 1 {
			t.Errorf("B-cubed of %v: %+v, want a precision of %g and a recall of 1", c.found, got, c.precision)
		}
	}
	for _, c := range []struct {
		truth, found []Document
		want         float64
		what         string
	}{
		// Their table of 3 by 3 classes and clusters gives .313 when rounded.
		{
			[]Document{0, 0, 2, 2, 2, 2, 6, 6, 6, 6},
			[]Document{0, 1, 0, 1, 1, 5, 5, 5, 5, 5},
			133.0 / 425.5,
			"Yeung and Ruzzo, Details of the adjusted Rand index (2001)",
		},
		{[]Document{0, 0, 1, 1}, []Document{0, 0, 1, 2}, 4.0 / 7, "scikit-learn, adjusted_rand_score"},
		{[]Document{0, 0, 1, 1}, []Document{0, 1, 0, 1}, -0.5, "scikit-learn, adjusted_rand_score"},
		{[]Document{0, 0, 0, 0}, []Document{0, 1, 2, 3}, 0, "scikit-learn, adjusted_rand_score"},
		{[]Document{0, 1, 2}, []Document{2, 1, 0}, 1, "all alone"},
		{[]Document{0, 0, 0}, []Document{1, 1, 1}, 1, "all in one"},
		{nil, nil, 1, "no document"},
	} {
		if got := Compare(c.truth, c.found, 0).AdjustedRand; !near(got, c.want) {
			t.Errorf("adjusted Rand index of %v and %v: %g, want %g (%s)", c.truth, c.found, got, c.want, c.what)
		}
	}
}

// randomPartition gives n documents labels that are documents of their clusters.
func randomPartition(random *rand.Rand, n int) []Document {
	pairs := make([]Pair, random.IntN(n+1))
	for i := range pairs {
		pairs[i] = newPair(Document(random.IntN(n)), Document(random.IntN(n)), 1)
	}
	return Components(n, pairs)
}

// TestCompareIsTheDefinition compares with the definitions, document by document
// and pair by pair.
func TestCompareIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 500 {
		n := 1 + random.IntN(40)
		alone := random.IntN(3) * random.IntN(20)
		truth, found := randomPartition(random, n), randomPartition(random, n)
		got := Compare(truth, found, int64(alone))
		// The documents that are alone, written out.
		for i := range alone {
			truth, found = append(truth, Document(n+i)), append(found, Document(n+i))
		}
		if want := naive(truth, found); !alike(got, want) {
			t.Fatalf("trial %d: %v and %v:\n got %+v\nwant %+v", trial, truth, found, got, want)
		}
		if swapped := Compare(found, truth, 0); swapped.Pairwise.Precision != got.Pairwise.Recall ||
			!near(swapped.BCubed.Precision, got.BCubed.Recall) || !near(swapped.AdjustedRand, got.AdjustedRand) {
			t.Fatalf("trial %d: the other way round %+v, want %+v with precision for recall", trial, swapped, got)
		}
		same := Compare(truth, truth, 0)
		perfect := Score{1, 1, 1}
		if same.AdjustedRand != 1 || same.Pairwise != perfect || !near(same.BCubed.F1, 1) {
			t.Fatalf("trial %d: with itself %+v", trial, same)
		}
	}
}

func alike(a, b Agreement) bool {
	return a.Documents == b.Documents && near(a.AdjustedRand, b.AdjustedRand) &&
		near(a.Pairwise.Precision, b.Pairwise.Precision) && near(a.Pairwise.Recall, b.Pairwise.Recall) &&
		near(a.Pairwise.F1, b.Pairwise.F1) &&
		near(a.BCubed.Precision, b.BCubed.Precision) && near(a.BCubed.Recall, b.BCubed.Recall) &&
		near(a.BCubed.F1, b.BCubed.F1) &&
		near(a.BCubedClustered.Precision, b.BCubedClustered.Precision) &&
		near(a.BCubedClustered.Recall, b.BCubedClustered.Recall)
}

// naive computes everything from its definition in quadratic time.
func naive(truth, found []Document) Agreement {
	n := len(truth)
	a := Agreement{Documents: int64(n)}
	// Pairs: together in both, in the truth only, in what was found only, in none.
	var both, onlyTruth, onlyFound, none float64
	type sums struct{ precision, recall, documents float64 }
	var all, clustered sums
	for i := range n {
		var inTruth, inFound, common float64
		for j := range n {
			isTrue, isFound := truth[i] == truth[j], found[i] == found[j]
			if isTrue {
				inTruth++
			}
			if isFound {
				inFound++
			}
			if isTrue && isFound {
				common++
			}
			switch {
			case j <= i:
			case isTrue && isFound:
				both++
			case isTrue:
				onlyTruth++
			case isFound:
				onlyFound++
			default:
				none++
			}
		}
		for _, s := range []*sums{&all, &clustered} {
			if s == &all || inTruth > 1 || inFound > 1 {
				s.precision += common / inFound
				s.recall += common / inTruth
				s.documents++
			}
		}
	}
	ratio := func(part, whole float64) float64 {
		if whole == 0 {
			return 1
		}
		return part / whole
	}
	harmonic := func(precision, recall float64) Score {
		if precision+recall == 0 {
			return Score{}
		}
		return Score{precision, recall, 2 / (1/precision + 1/recall)}
	}
	score := func(s sums) Score { return harmonic(ratio(s.precision, s.documents), ratio(s.recall, s.documents)) }
	a.Pairwise = harmonic(ratio(both, both+onlyFound), ratio(both, both+onlyTruth))
	a.BCubed, a.BCubedClustered = score(all), score(clustered)
	// The index as a ratio of pair counts, by which it is symmetric.
	a.AdjustedRand = 1
	if onlyTruth+onlyFound > 0 {
		a.AdjustedRand = 2 * (both*none - onlyTruth*onlyFound) /
			((both+onlyTruth)*(onlyTruth+none) + (both+onlyFound)*(onlyFound+none))
	}
	return a
}

// TestJudgeIsTheDefinition compares with the definition on random pairs, classes
// and truths.
func TestJudgeIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for trial := range 500 {
		n := 2 + random.IntN(20)
		truth := &Truth{Documents: 1 + random.IntN(n)}
		for a := range truth.Documents {
			for b := range a {
				if random.IntN(5) == 0 {
					truth.Pairs = append(truth.Pairs, newPair(Document(a), Document(b), 1))
				}
			}
		}
		classes := randomPartition(random, n)
		judge := NewJudge(truth, classes)
		listed := map[[2]Document]bool{} // classes
		var want PairCounts
		for a := range Document(n) {
			for b := range a {
				if classes[a] != a || classes[b] != b || random.IntN(3) > 0 {
					continue // only the first of a class is in pairs
				}
				listed[[2]Document{b, a}] = true
				isTrue := slices.ContainsFunc(truth.Pairs, func(p Pair) bool {
					x, y := classes[p.A], classes[p.B]
					return x == a && y == b || x == b && y == a
				})
				if judge.See(a, b) != isTrue {
					t.Fatalf("trial %d: See(%d, %d) = %v", trial, a, b, !isTrue)
				}
				want.Listed++
				if !isTrue {
					want.Wrong++
					isNamed := func(class Document) bool { return slices.Contains(classes[:truth.Documents], class) }
					if !isNamed(a) || !isNamed(b) {
						want.Unknown++
					}
				}
			}
		}
		want.True = int64(len(truth.Pairs))
		for _, p := range truth.Pairs {
			x, y := classes[p.A], classes[p.B]
			if x == y || listed[[2]Document{min(x, y), max(x, y)}] {
				want.Found++
			}
		}
		if got := judge.Counts(); got != want {
			t.Fatalf("trial %d: %+v, want %+v", trial, got, want)
		}
	}
}

func TestJudgeClusters(t *testing.T) {
	truth := &Truth{Documents: 4, Pairs: []Pair{{0, 1, 1}, {0, 2, 1}}}
	// 0, 1 and 3 together, and 4, which the truth does not name, with 5.
	got := JudgeClusters(truth, []Document{0, 0, 2, 0, 4, 4})
	if want := (PairCounts{True: 2, Found: 1, Listed: 4, Wrong: 3, Unknown: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if score, want := got.Score(), (Score{0.25, 0.5, 1.0 / 3}); score != want {
		t.Errorf("%+v, want %+v", score, want)
	}
	if none := (PairCounts{True: 1}).Score(); none != (Score{Precision: 1}) {
		t.Errorf("nothing listed: %+v, want a precision of 1 and nothing else", none)
	}
}

// readTruth reads a truth from a string.
func readTruth(content string, threshold float64, documents *Documents) (*Truth, error) {
	return ReadTruth("t.tsv", func(yield func([]byte, error) bool) {
		for line := range strings.Lines(content) {
			if !yield([]byte(strings.TrimSuffix(line, "\n")), nil) {
				return
			}
		}
	}, threshold, documents)
}

func TestReadTruth(t *testing.T) {
	documents := NewDocuments()
	truth, err := readTruth("# by hand\na\tb\n\nc\ta\t0.9\tsure\nb\ta\t0.85\nd\te\t0.1\na\tc\t0.95\n", 0.8, documents)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{0, 1, 0.85}, {0, 2, 0.95}}; !slices.Equal(truth.Pairs, want) || truth.Documents != 5 ||
		truth.Below != 1 {
		t.Errorf("%+v, want %v of 5 documents, 1 line below", truth, want)
	}
	if truth, err = readTruth("a\tb", 0.8, NewDocuments()); err != nil || len(truth.Pairs) != 1 ||
		!math.IsNaN(truth.Pairs[0].Similarity) {
		t.Errorf("without a similarity: %+v, %v", truth, err)
	}
	for line, want := range map[string]string{
		"a":             `t.tsv:2: one field, "a", where two ids`,
		"a b":           `t.tsv:2: one field, "a b", where two ids`,
		"a\t":           `t.tsv:2: an id is empty`,
		"\tb":           `t.tsv:2: an id is empty`,
		"a\ta":          `t.tsv:2: a pair of "a" with itself`,
		"a\tb\t":        `t.tsv:2: the third field, "", is no similarity`,
		"a\tb\tjaccard": `t.tsv:2: the third field, "jaccard", is no similarity such as 0.85; if the line is a heading`,
		"a\tb\tNaN":     `t.tsv:2: the third field, "NaN", is no similarity`,
	} {
		if _, err := readTruth("x\ty\n"+line, 0.8, NewDocuments()); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func FuzzReadTruth(f *testing.F) {
	f.Add("# c\na\tb\t0.9\nc\td\n", 0.8)
	f.Add("a\tb\t1e400\n", 0.1)
	f.Add("0\t\xba", 0.1)
	f.Fuzz(func(t *testing.T, content string, threshold float64) {
		documents := NewDocuments()
		truth, err := readTruth(content, threshold, documents)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		names := string(quoting.AppendText(nil, []byte(content)))
		for _, p := range truth.Pairs {
			a, b := documents.Name(p.A), documents.Name(p.B)
			if p.A >= p.B || seen[a+"\t"+b] || p.Similarity < threshold {
				t.Errorf("pair %+v of %q and %q", p, a, b)
			}
			if seen[a+"\t"+b] = true; !strings.Contains(names, a+"\t"+b) && !strings.Contains(names, b+"\t"+a) {
				t.Errorf("%q and %q are no pair of %q", a, b, content)
			}
		}
	})
}

// TestFiguresByHand holds the figures of a small example, calculated by hand.
func TestFiguresByHand(t *testing.T) {
	const a, b, c, d, e, f = 0, 1, 2, 3, 4, 5
	truth := &Truth{Documents: 5, Pairs: []Pair{{a, b, 1}, {a, c, 1}, {b, c, 1}, {d, e, 1}}}
	judge := NewJudge(truth, Components(6, nil))
	listed := []Pair{{a, b, 1}, {c, d, 1}, {e, f, 1}}
	for _, pair := range listed {
		judge.See(pair.A, pair.B)
	}
	clusters := Components(6, listed)
	for name, counts := range map[string]PairCounts{
		"listed":         judge.Counts(),
		"in one cluster": JudgeClusters(truth, clusters),
	} {
		if score, want := counts.Score(), newScore(1.0/3, 1.0/4); score != want || !near(score.F1, 2.0/7) {
			t.Errorf("%s: %+v, want %+v", name, score, want)
		}
	}
	got := Compare(Components(6, truth.Pairs), clusters, 1)
	want := Agreement{
		Documents:       7,
		Pairwise:        Score{1.0 / 3, 1.0 / 4, 2.0 / 7},
		BCubed:          Score{5.0 / 7, 2.0 / 3, 20.0 / 29},
		BCubedClustered: Score{4.0 / 6, 11.0 / 18, 44.0 / 69},
		AdjustedRand:    6.0 / 41,
	}
	if !alike(got, want) || !near(got.BCubedClustered.F1, want.BCubedClustered.F1) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
