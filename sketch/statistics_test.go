package sketch

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// longSeries is the environment variable that switches the long series of the
// statistical tests on. They take a minute or two.
const longSeries = "SKETCH_LONG"

// series is the number of trials and the size of sets of a statistical test.
type series struct {
	size, trials int
	long         bool
}

func (s series) name() string { return fmt.Sprintf("%d elements", s.size) }

// skip skips a long series unless it is wanted.
func (s series) skip(t *testing.T) {
	if s.long && os.Getenv(longSeries) == "" {
		t.Skip("a long series: set " + longSeries + "=1 to run it")
	}
}

// TestMinHashComponents checks that the components of [MinHash] are as good as
// independent random permutations, for sets of 5 to 100,000 elements that share
// three fifths of each.
//
//   - The mean is within 4 standard errors of the similarity.
//   - The variance is within 5 % of the variance of independent components. Over 10,000
//     trials its standard error is 1.4 % of it.
//   - No two components correlate: over 10,000 trials a correlation has a
//     standard error of 0.01, and none of the 2,016 may be above 0.055. Were the
//     seeds not fixed, that would fail once in 10,000 runs.
func TestMinHashComponents(t *testing.T) {
	const components = 64
	for seed, s := range []series{
		{size: 5, trials: 10_000},
		{size: 20, trials: 10_000},
		{size: 200, trials: 10_000},
		{size: 2000, trials: 10_000},
		{size: 20_000, trials: 10_000, long: true},
		{size: 100_000, trials: 10_000, long: true},
	} {
		t.Run(s.name(), func(t *testing.T) {
			s.skip(t)
			random := rand.New(rand.NewPCG(81, uint64(seed)))
			minhash := must(NewMinHash(components))
			common := (3*s.size + 4) / 5
			truth := float64(common) / float64(2*s.size-common)
			all := make([]uint64, 2*s.size-common)
			var both, onlyA, onlyB []uint32
			var estimate moments
			// A bit for every trial in which a component agrees.
			var agreements [components][]uint64
			for i := range agreements {
				agreements[i] = make([]uint64, s.trials/64+1)
			}
			for trial := range s.trials {
				for i := range all {
					all[i] = random.Uint64() >> (64 - elementBits)
				}
				// The signature of a union is the smaller of two components.
				both = minhash.Signature(both, all[:common])
				onlyA = minhash.Signature(onlyA, all[common:s.size])
				onlyB = minhash.Signature(onlyB, all[s.size:])
				equal := 0
				for i, x := range both {
					if min(x, onlyA[i]) == min(x, onlyB[i]) {
						equal++
						agreements[i][trial/64] |= 1 << (trial % 64)
					}
				}
				estimate.add(float64(equal) / components)
			}
			estimate.unbiased(t, "estimate", truth)
			if ratio := estimate.variance() / (truth * (1 - truth) / components); math.Abs(ratio-1) > 0.05 {
				t.Errorf("variance is %.3f of that of random permutations", ratio)
			}
			for i := range agreements {
				for j := range i {
					if r := correlation(agreements[i], agreements[j], s.trials); math.Abs(r) > 0.055 {
						t.Errorf("components %d and %d correlate by %.3f", j, i, r)
					}
				}
			}
		})
	}
}

// correlation is the correlation of two events, given by a bit for every trial.
func correlation(a, b []uint64, trials int) float64 {
	var countA, countB, countBoth int
	for i := range a {
		countA += bits.OnesCount64(a[i])
		countB += bits.OnesCount64(b[i])
		countBoth += bits.OnesCount64(a[i] & b[i])
	}
	n := float64(trials)
	p, q := float64(countA)/n, float64(countB)/n
	return (float64(countBoth)/n - p*q) / math.Sqrt(p*(1-p)*q*(1-q))
}

// TestBottomKVariance checks the estimate of bottom-k sketches: its mean within
// 4 standard errors, and its variance within 6 % (4 standard errors) of the variance of
// a sample without replacement, J(1-J)/k * (n-k)/(n-1) for a union of n.
func TestBottomKVariance(t *testing.T) {
	const k = 64
	for seed, s := range []series{
		{size: 70, trials: 10_000},
		{size: 300, trials: 10_000},
		{size: 2000, trials: 10_000, long: true},
		{size: 5000, trials: 10_000, long: true},
	} {
		t.Run(s.name(), func(t *testing.T) {
			s.skip(t)
			random := rand.New(rand.NewPCG(82, uint64(seed)))
			common := s.size / 2
			union := 2*s.size - common
			truth := float64(common) / float64(union)
			var estimate, containment moments
			for range s.trials {
				a, b := overlapping(random, s.size, s.size, common)
				got := EstimateFingerprints(BottomK(a, k), BottomK(b, k), k)
				estimate.add(got.Jaccard)
				containment.add(got.ContainmentA)
			}
			estimate.unbiased(t, "Jaccard", truth)
			containment.unbiased(t, "containment", float64(common)/float64(s.size))
			sampled := min(k, union)
			want := truth * (1 - truth) / float64(sampled) * float64(union-sampled) / float64(union-1)
			if ratio := estimate.variance() / want; math.Abs(ratio-1) > 0.06 {
				t.Errorf("variance is %.3f of that of a random sample", ratio)
			}
		})
	}
}

// TestSingleHashEstimate checks that FNV-1a is random enough on shingles of real
// looking words: the mean of the estimate within 4 standard errors of the
// similarity of the shingles themselves, the variance at most 10 % (4.5 standard
// errors) above the error of a random sample.
func TestSingleHashEstimate(t *testing.T) {
	const size, words = 64, 400
	for seed, s := range []series{{size: words, trials: 4000}, {size: words, trials: 40_000, long: true}} {
		t.Run(fmt.Sprintf("%d trials", s.trials), func(t *testing.T) {
			s.skip(t)
			random := rand.New(rand.NewPCG(83, uint64(seed)))
			hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: size}))
			var a, b []uint32
			var deviation, ratio moments
			for range s.trials {
				textA := make([]string, s.size)
				for i := range textA {
					textA[i] = randomWord(random)
				}
				textB := append([]string(nil), textA...)
				for range 25 {
					textB[random.IntN(len(textB))] = randomWord(random)
				}
				a, _ = hasher.Fingerprint(a, []byte(strings.Join(textA, " ")))
				b, _ = hasher.Fingerprint(b, []byte(strings.Join(textB, " ")))
				truth, union := shingleJaccard(textA, textB)
				off := EstimateFingerprints(a, b, size).Jaccard - truth
				deviation.add(off)
				want := truth * (1 - truth) / size * float64(union-size) / float64(union-1)
				ratio.add(off * off / want)
			}
			deviation.unbiased(t, "estimate less truth", 0)
			if allowed := 1 + 4.5*math.Sqrt2/math.Sqrt(float64(s.trials)); ratio.mean() > allowed {
				t.Errorf("variance is %.3f of that of a random sample, want at most %.3f", ratio.mean(), allowed)
			}
		})
	}
}

// randomWord returns a word of 1 to 9 letters, the frequent ones more often.
func randomWord(random *rand.Rand) string {
	const letters = "eeeeettttaaaooiinnsshhrrdlcumwfgypbvk"
	word := make([]byte, 1+random.IntN(9))
	for i := range word {
		word[i] = letters[random.IntN(len(letters))]
	}
	return string(word)
}

// shingleJaccard is the Jaccard similarity of the sets of shingles of three
// words, and the size of their union. Words run together in a shingle, as they
// do for its hash.
func shingleJaccard(a, b []string) (jaccard float64, union int) {
	kinds := map[string]int{}
	for kind, words := range [][]string{a, b} {
		for i := range len(words) - 2 {
			kinds[strings.Join(words[i:i+3], "")] |= 1 << kind
		}
	}
	common := 0
	for _, kind := range kinds {
		if kind == 3 {
			common++
		}
	}
	return float64(common) / float64(len(kinds)), len(kinds)
}

// TestCosine checks the Hamming distance of SimHash fingerprints of weighted
// sets: its mean against the angle between the sets, within 4 standard errors
// and what the law itself is off for sets of 400 features, 0.003; its variance
// within 5 standard errors of the variance of independent bits; and the mean cosine.
func TestCosine(t *testing.T) {
	for seed, s := range []series{{size: 400, trials: 500}, {size: 400, trials: 10_000, long: true}} {
		t.Run(fmt.Sprintf("%d trials", s.trials), func(t *testing.T) {
			s.skip(t)
			random := rand.New(rand.NewPCG(84, uint64(seed)))
			for _, common := range []int{0, 100, 200, 300, 380, 400} {
				s.checkCosine(t, random, common, func(int) float64 { return 1 })
				s.checkCosine(t, random, common, func(i int) float64 { return 1 + float64(i%5)/4 })
			}
		})
	}
}

// checkCosine is TestCosine for two sets with a number of common features of given
// weights.
func (s series) checkCosine(t *testing.T, random *rand.Rand, common int, weight func(i int) float64) {
	const length = 256
	simhash := newSimHash(t, SimHashOptions{Bits: length})
	var shared, total float64
	for i := range s.size {
		total += weight(i) * weight(i)
		if i < common {
			shared += weight(i) * weight(i)
		}
	}
	var a, b []uint64
	var distance, cosine moments
	hashes := make([]uint64, s.size)
	for range s.trials {
		for i := range hashes {
			hashes[i] = random.Uint64()
		}
		a = fingerprintOf(simhash, a, hashes, weight)
		for i := range hashes[common:] {
			hashes[common+i] = random.Uint64()
		}
		b = fingerprintOf(simhash, b, hashes, weight)
		differing := Hamming(a, b)
		distance.add(float64(differing) / length)
		cosine.add(Cosine(differing, length))
	}
	truth := shared / total
	name := fmt.Sprintf("%d of %d common, cosine %.3f", common, s.size, truth)
	p := math.Acos(truth) / math.Pi
	if off := math.Abs(distance.mean() - p); off > deviations*distance.standardError()+0.003 {
		t.Errorf("%s: %.4f of the bits differ, want %.4f", name, distance.mean(), p)
	}
	want := p * (1 - p) / length
	if got := distance.variance(); math.Abs(got-want) > 5*math.Sqrt2/math.Sqrt(float64(s.trials))*want {
		t.Errorf("%s: variance is %.3g, want %.3g", name, got, want)
	}
	// The cosine is bent: the variance of p shifts it by half of its second
	// derivative, at most this.
	allowed := deviations*cosine.standardError() + 0.003*math.Pi + math.Pi*math.Pi*want/2
	if off := math.Abs(cosine.mean() - truth); off > allowed {
		t.Errorf("%s: mean cosine is %.4f, want %.4f", name, cosine.mean(), truth)
	}
}

// fingerprintOf returns the fingerprint of features with given weights.
func fingerprintOf(s *SimHash, dst, hashes []uint64, weight func(i int) float64) []uint64 {
	s.Reset()
	for i, hash := range hashes {
		s.Add(hash, weight(i))
	}
	return s.Fingerprint(dst)
}
