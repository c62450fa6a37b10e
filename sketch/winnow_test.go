package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomHashes returns n hashes below limit.
func randomHashes(random *rand.Rand, n int, limit uint64) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = random.Uint64N(limit)
	}
	return hashes
}

// The example of the article, figure 2: 4-grams of "adorunrunrunadorunrun", and
// its windows of 4.
func TestWinnowArticle(t *testing.T) {
	hashes := []uint64{77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98}
	want := []uint32{3, 6, 8, 11, 15}
	if got := Winnow(nil, hashes, 4); !slices.Equal(got, want) {
		t.Errorf("selected are %v, want %v", got, want)
	}
}

func TestWinnowIsLeastOfWindows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		hashes := randomHashes(random, random.IntN(60), 1+random.Uint64N(100))
		window := 1 + random.IntN(20)
		selected := Winnow(nil, hashes, window)
		if !slices.IsSorted(selected) || len(slices.Compact(slices.Clone(selected))) != len(selected) {
			t.Fatalf("%v are not ascending", selected)
		}
		is := map[uint32]bool{}
		for _, at := range selected {
			is[at] = true
		}
		window = min(window, len(hashes))
		for begin := 0; len(hashes) > 0 && begin+window <= len(hashes); begin++ {
			least := slices.Min(hashes[begin : begin+window])
			found := false
			for i := begin; i < begin+window; i++ {
				found = found || is[uint32(i)] && hashes[i] == least
			}
			if !found {
				t.Fatalf("of window %d of %v with %d hashes, the least is not selected: %v", begin, hashes, window,
					selected)
			}
		}
	}
}

// The guarantee: lists that share a window share a selected hash of it.
func TestWinnowGuarantee(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		window := 1 + random.IntN(20)
		limit := uint64(1 << 48)
		if random.IntN(2) == 0 {
			limit = 30
		}
		common := randomHashes(random, window+random.IntN(5), limit)
		embed := func() map[uint64]bool {
			hashes := slices.Concat(randomHashes(random, random.IntN(50), limit), common,
				randomHashes(random, random.IntN(50), limit))
			selected := map[uint64]bool{}
			for _, at := range Winnow(nil, hashes, window) {
				selected[hashes[at]] = true
			}
			return selected
		}
		a, b := embed(), embed()
		if !slices.ContainsFunc(common, func(hash uint64) bool { return a[hash] && b[hash] }) {
			t.Fatalf("of %d hashes in common none is selected in both with windows of %d", len(common), window)
		}
	}
}

func TestWinnowDensity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	const n = 200000
	for _, window := range []int{1, 4, 12, 50} {
		selected := float64(len(Winnow(nil, randomHashes(random, n, 1<<48), window)))
		want := 2 * n / float64(window+1)
		if math.Abs(selected-want) > 5*math.Sqrt(want) {
			t.Errorf("windows of %d select %v of %d, want about %v", window, selected, n, want)
		}
		monotonous := len(Winnow(nil, make([]uint64, n), window))
		if want := n / window; monotonous > want+1 {
			t.Errorf("windows of %d select %d of %d equal hashes, want at most %d", window, monotonous, n, want+1)
		}
	}
}

func TestPassages(t *testing.T) {
	o := Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens}}
	s, err := NewSequencer(o, true)
	if err != nil {
		t.Fatal(err)
	}
	passages := func(text string) []uint64 {
		_, q := s.Sequence([]byte(text))
		return q.Passages(nil, 4)
	}
	six := passages("a b c d e f")
	if len(six) != 1 {
		t.Fatalf("six words make %d passages of four shingles, want 1", len(six))
	}
	for text, want := range map[string]int{
		"a b c d e":                   0,
		"x a b c d e f y z":           4,
		"a b c “d” e f":               0,
		"a b c d e f “g” a b c d e f": 2,
	} {
		got := passages(text)
		if len(got) != want || want > 0 && !slices.Contains(got, six[0]) {
			t.Errorf("%q makes %d passages, want %d", text, len(got), want)
		}
	}
}
