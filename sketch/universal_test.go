package sketch

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestUniversalMinHash(t *testing.T) {
	if !big.NewInt(universalPrime).ProbablyPrime(0) {
		t.Errorf("%d is no prime", uint64(universalPrime))
	}
	for n := uint64(1 << 32); n < universalPrime; n++ {
		if new(big.Int).SetUint64(n).ProbablyPrime(0) {
			t.Errorf("%d is a smaller prime", n)
		}
	}
	m := must(NewUniversalMinHash(40, 1))
	random := rand.New(rand.NewPCG(71, 72))
	shingles := []uint32{0, 1, math.MaxUint32}
	for range 20 {
		shingles = append(shingles, random.Uint32())
	}
	signature := m.Signature(nil, shingles)
	for i, got := range signature {
		want := new(big.Int).SetUint64(universalPrime)
		for _, x := range shingles {
			y := new(big.Int).Mul(new(big.Int).SetUint64(m.factors[i]), new(big.Int).SetUint64(uint64(x)))
			y.Add(y, new(big.Int).SetUint64(m.addends[i])).Mod(y, new(big.Int).SetUint64(universalPrime))
			if y.Cmp(want) < 0 {
				want = y
			}
		}
		if got != want.Uint64() {
			t.Errorf("component %d is %d, want %d", i, got, want)
		}
	}
	if few := must(NewUniversalMinHash(3, 1)).Signature(nil, shingles); !slices.Equal(few, signature[:3]) {
		t.Error("the first components depend on their number")
	}
	if other := must(NewUniversalMinHash(40, 2)).Signature(nil, shingles); SignatureAgreement(signature, other) > 0 {
		t.Error("the seed does not matter")
	}
	for _, component := range m.Signature(signature, nil) {
		if component != universalPrime {
			t.Errorf("component of the empty set is %d", component)
		}
	}
	if n := testing.AllocsPerRun(10, func() { m.Signature(signature, shingles) }); n != 0 {
		t.Errorf("Signature into a buffer allocates %v times", n)
	}
}

func TestSignatureAgreement(t *testing.T) {
	for _, c := range []struct {
		a, b []uint32
		want float64
	}{{nil, nil, 0}, {[]uint32{1, 2, 3, 4}, []uint32{1, 3, 2, 4}, 0.5}} {
		if got := SignatureAgreement(c.a, c.b); got != c.want {
			t.Errorf("SignatureAgreement(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestCRC32Shingles(t *testing.T) {
	sum := func(s string) uint32 { return crc32.ChecksumIEEE([]byte(s)) }
	for _, c := range []struct {
		text  string
		width int
		want  []uint32
	}{
		{"", 3, nil},
		{"A small", 3, nil},
		{"A small  detail\nhere", 3, []uint32{sum("A small detail"), sum("small detail here")}},
		{"b a b a b a", 2, []uint32{sum("b a"), sum("a b")}},
		{"b", 0, []uint32{sum("b")}},
	} {
		slices.Sort(c.want)
		got := AppendCRC32Shingles([]uint32{9, 1}, []byte(c.text), c.width)
		if !slices.Equal(got, append([]uint32{9, 1}, c.want...)) {
			t.Errorf("shingles of %q are %x, want 9, 1 and %x", c.text, got, c.want)
		}
	}
}

// TestUniversalMinHashUnbiased checks mean and variance for sets of all sizes.
func TestUniversalMinHashUnbiased(t *testing.T) {
	const components, trials = 10, 1500
	random := rand.New(rand.NewPCG(73, 74))
	for _, size := range []int{5, 60, 400} {
		common := (3*size + 4) / 5
		truth := float64(common) / float64(2*size-common)
		var estimate moments
		var a1, b1 []uint64
		for trial := range trials {
			m := must(NewUniversalMinHash(components, uint64(trial)))
			a, b := make([]uint32, size), make([]uint32, size)
			for i := range a {
				a[i], b[i] = random.Uint32(), random.Uint32()
			}
			copy(b, a[:common])
			a1, b1 = m.Signature(a1, a), m.Signature(b1, b)
			estimate.add(SignatureAgreement(a1, b1))
		}
		estimate.unbiased(t, fmt.Sprintf("%d shingles", size), truth)
		// The standard error of a variance over 1,500 trials is 4 % of it.
		if ratio := estimate.variance() / (truth * (1 - truth) / components); math.Abs(ratio-1) > 0.15 {
			t.Errorf("%d shingles: variance is %.3f of that of random permutations", size, ratio)
		}
	}
}

// TestTutorialCorpora repeats the experiment of the tutorial: signatures of ten
// components, and all pairs with more than half of them equal are looked at.
// The planted pairs must be among them, and their true similarity within what
// ten components can say.
func TestTutorialCorpora(t *testing.T) {
	const components, threshold = 10, 0.5
	for _, size := range []int{100, 1000, 2500} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			var ids []string
			sets := map[string][]uint32{}
			signatures := map[string][]uint64{}
			m := must(NewUniversalMinHash(components, 2015))
			for id, text := range readTexts(t, fmt.Sprintf("chrisjm/articles_%d.jsonl.zst", size)) {
				ids = append(ids, id)
				sets[id] = AppendCRC32Shingles(nil, text, 3)
				signatures[id] = m.Signature(nil, sets[id])
			}
			planted := map[[2]string]bool{}
			readLines(t, fmt.Sprintf("chrisjm/articles_%d.truth.tsv.zst", size), func(line []byte) {
				pair := strings.Split(string(line), "\t")
				slices.Sort(pair)
				planted[[2]string(pair)] = true
			})

			slices.Sort(ids)
			candidates, found := 0, 0
			for i, a := range ids {
				for _, b := range ids[:i] {
					estimate := SignatureAgreement(signatures[a], signatures[b])
					if estimate <= threshold {
						continue
					}
					candidates++
					similar := EstimateFingerprints(sets[a], sets[b], math.MaxInt).Jaccard
					if planted[[2]string{b, a}] {
						found++
						if similar < 0.9 {
							t.Errorf("%s and %s: similarity %.3f, but they are a planted pair", a, b, similar)
						}
					} else if similar > 0.25 {
						t.Errorf("%s and %s: similarity %.3f, but they are no planted pair", a, b, similar)
					}
					// Six standard deviations of ten components at this similarity.
					if allowed := 6 * math.Sqrt(similar*(1-similar)/components); math.Abs(estimate-similar) > allowed {
						t.Errorf("%s and %s: estimate %.1f of %.3f", a, b, estimate, similar)
					}
				}
			}
			t.Logf("%d of %d planted pairs found among %d candidates", found, len(planted), candidates)
			if found != len(planted) {
				t.Errorf("%d of %d planted pairs found", found, len(planted))
			}
			if candidates > 2*found {
				t.Errorf("%d candidates for %d pairs", candidates, found)
			}
		})
	}
}

func BenchmarkUniversalMinHash(b *testing.B) {
	const components, size = 128, 200
	random := rand.New(rand.NewPCG(75, 76))
	narrow, set := make([]uint32, size), make([]uint64, size)
	for i := range set {
		set[i] = random.Uint64() >> (64 - elementBits)
		narrow[i] = uint32(set[i])
	}
	b.Run("plain", func(b *testing.B) {
		m := must(NewUniversalMinHash(components, 1))
		var signature []uint64
		for b.Loop() {
			signature = m.Signature(signature, narrow)
		}
	})
	b.Run("MinHash", func(b *testing.B) {
		m := must(NewMinHash(components))
		var signature []uint32
		for b.Loop() {
			signature = m.Signature(signature, set)
		}
	})
}
