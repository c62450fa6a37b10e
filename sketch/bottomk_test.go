package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
)

// overlapping returns two random sets of na and nb elements with common of
// them in both.
func overlapping(random *rand.Rand, na, nb, common int) (a, b []uint64) {
	for i := range na + nb - common {
		x := random.Uint64() >> (64 - elementBits)
		if i < na {
			a = append(a, x)
		}
		if i >= na-common {
			b = append(b, x)
		}
	}
	return naiveSet(a), naiveSet(b)
}

func TestBottomK(t *testing.T) {
	set := []uint64{1, 2, 3}
	for k, want := range []int{0, 1, 2, 3, 3, 3} {
		if got := BottomK(set, k); len(got) != want {
			t.Errorf("BottomK(3 elements, %d) has %d elements, want %d", k, len(got), want)
		}
	}
	if got := BottomK(set, -1); len(got) != 0 {
		t.Errorf("BottomK with a negative k has %d elements", len(got))
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b          []uint64
		na, nb        int
		k             int
		common, union int
		exact         bool
	}{
		{nil, nil, 0, 0, 4, 0, 0, true},
		{[]uint64{1}, nil, 1, 0, 4, 0, 1, true},
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}, 3, 3, 4, 3, 3, true},
		{[]uint64{1, 2, 3}, []uint64{2, 3, 4}, 3, 3, 3, 2, 4, true},
		{[]uint64{1, 2, 3}, []uint64{2, 3, 4}, 3, 9, 3, 2, 3, false},
		{[]uint64{1, 2, 3}, []uint64{4, 5, 6}, 3, 9, 3, 0, 3, false},
		{[]uint64{9}, []uint64{4, 5, 9}, 1, 9, 3, 1, 3, false},
		{[]uint64{1, 5}, []uint64{1, 5, 6, 7}, 9, 9, 4, 2, 2, false},
		{nil, nil, 9, 9, 0, 0, 0, false},
	} {
		common, union, exact := Overlap(c.a, c.b, c.na, c.nb, c.k)
		if common != c.common || union != c.union || exact != c.exact {
			t.Errorf("Overlap(%v, %v, %d, %d, %d) = %d, %d, %v; want %d, %d, %v",
				c.a, c.b, c.na, c.nb, c.k, common, union, exact, c.common, c.union, c.exact)
		}
	}
}

func TestOverlapUnbiased(t *testing.T) {
	const k, trials = 32, 4000
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][3]int{{100, 100, 50}, {20, 300, 15}, {60, 70, 60}} {
		na, nb, common := size[0], size[1], size[2]
		truth := float64(common) / float64(na+nb-common)
		sum := 0.0
		for range trials {
			a, b := overlapping(random, na, nb, common)
			shared, union, exact := Overlap(BottomK(a, k), BottomK(b, k), na, nb, k)
			if exact {
				t.Fatalf("estimate for sets of %d and %d elements is said to be exact", na, nb)
			}
			sum += float64(shared) / float64(union)
		}
		allowed := 4 * math.Sqrt(truth*(1-truth)/k/trials)
		if mean := sum / trials; math.Abs(mean-truth) > allowed {
			t.Errorf("sets of %d and %d elements: mean estimate %.4f, want %.4f within %.4f", na, nb, mean, truth,
				allowed)
		}
	}
}

// checkBottomK compares the sketches of a text with the heads of its set, on every
// tier.
func checkBottomK(t *testing.T, h, reference *Hasher, text []byte) {
	t.Helper()
	document := reference.Document(text)
	for _, tier := range asmkernels.Tiers() {
		for _, k := range []int{-1, 0, 1, 33, 128, 500, len(document.Set), len(document.Set) + 1} {
			before := asmkernels.SelectTier(tier)
			got := h.BottomK(text, k)
			asmkernels.SelectTier(before)
			if want := BottomK(document.Set, k); !slices.Equal(got.Smallest, want) {
				t.Fatalf("%v: %d smallest of %.100q: %x, want %x", tier, k, text, got.Smallest, want)
			}
			if got.Tokens != document.Tokens || got.InvalidBytes != document.InvalidBytes {
				t.Fatalf("%v: %d smallest of %.100q: %d tokens, %d invalid bytes, want %d and %d",
					tier, k, text, got.Tokens, got.InvalidBytes, document.Tokens, document.InvalidBytes)
			}
			if whole := len(document.Set) < k; got.Shingles < len(document.Set) ||
				whole && got.Shingles != len(document.Set) {
				t.Fatalf("%v: %d smallest of %.100q: %d shingles, %d distinct ones", tier, k, text, got.Shingles,
					len(document.Set))
			}
		}
	}
}

func TestHasherBottomK(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	for _, m := range measures {
		h, reference := must(NewHasher(m)), must(NewHasher(m))
		for _, text := range edgeTexts {
			checkBottomK(t, h, reference, []byte(text))
		}
		for i := range 80 {
			checkBottomK(t, h, reference, randomText(random, random.IntN(20000), i%2 == 0))
		}
		// Many tokens, but hardly a shingle that does not repeat.
		checkBottomK(t, h, reference, []byte(strings.Repeat("again and again, ", 3000)))
	}
}

func TestHasherBottomKOfCorpora(t *testing.T) {
	texts := readCorpus(t, "licenses/all.jsonl.zst", 4<<20)
	h, reference := must(NewHasher(Measure{Shingle: 3})), must(NewHasher(Measure{Shingle: 3}))
	for _, text := range texts {
		checkBottomK(t, h, reference, text)
	}
}

// TestBottomKShingles makes sure that the number of shingles says what Overlap
// asks for.
func TestBottomKShingles(t *testing.T) {
	h := must(NewHasher(Measure{Shingle: 1}))
	sketch := func(text string, k int) ([]uint64, int) {
		d := h.BottomK([]byte(text), k)
		return slices.Clone(d.Smallest), d.Shingles
	}
	for _, c := range []struct {
		k             int
		common, union int
		exact         bool
	}{{5, 2, 4, true}, {2, -1, 2, false}} {
		a, na := sketch("a b c a b c", c.k)
		b, nb := sketch("b c d b c d", c.k)
		common, union, exact := Overlap(a, b, na, nb, c.k)
		if union != c.union || exact != c.exact || exact && common != c.common {
			t.Errorf("k = %d: %d of %d in common, exact %v; want %d of %d, %v", c.k, common, union, exact, c.common,
				c.union, c.exact)
		}
	}
}

func TestBottomKAllocates(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(43, 44)), 100000, true)
	for _, tier := range asmkernels.Tiers() {
		t.Run(tier.String(), func(t *testing.T) {
			defer asmkernels.SelectTier(asmkernels.SelectTier(tier))
			h := must(NewHasher(Measure{Shingle: 3}))
			h.BottomK(text, 128)
			if n := testing.AllocsPerRun(10, func() { h.BottomK(text, 128) }); n != 0 {
				t.Errorf("a warm Hasher allocates %v times a sketch", n)
			}
		})
	}
}

// BenchmarkBottomK measures the way to the 128 smallest elements, and the best
// variant of the single-hash MinHash article to as many hashes.
func BenchmarkBottomK(b *testing.B) {
	const k = 128
	for _, kind := range benchmarkTexts {
		texts, size := kind.texts(b)
		units := make([][]uint16, len(texts))
		for i, text := range texts {
			units[i] = CodeUnits(text)
		}
		measure := func(name string, work func(i int)) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					for i := range texts {
						work(i)
					}
				}
			})
		}
		smallest, fingerprint := newSmallest(k), make([]uint32, 0, k)
		measure("article", func(i int) { fingerprint = ownTable(smallest, units[i], fingerprint) })
		for _, tier := range asmkernels.Tiers() {
			before := asmkernels.SelectTier(tier)
			h := must(NewHasher(Measure{Shingle: 3, Tokens: kind.tokens}))
			measure(tier.String(), func(i int) { h.BottomK(texts[i], k) })
			asmkernels.SelectTier(before)
		}
	}
}
