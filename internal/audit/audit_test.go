package audit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIndexFindsPartners compares with all pairs.
func TestIndexFindsPartners(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	set := func() []uint64 {
		s := make([]uint64, random.IntN(12))
		for i := range s {
			s[i] = random.Uint64N(14) << 40
		}
		slices.Sort(s)
		return slices.Compact(s)
	}
	partners := 0
	for _, threshold := range []float64{0.05, 0.5, 0.6, 2. / 3, 0.75, 0.8, 1} {
		x := NewIndex(threshold)
		x.Candidates(set(), func(int) { t.Error("a candidate in an empty index") })
		var samples [][]uint64
		for range 60 {
			samples = append(samples, set())
			x.Add(samples[len(samples)-1])
		}
		for range 200 {
			document := set()
			var found []int
			x.Candidates(document, func(sample int) { found = append(found, sample) })
			if !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) != len(found) {
				t.Fatalf("candidates %v", found)
			}
			for i, s := range samples {
				common := 0
				for _, element := range s {
					if slices.Contains(document, element) {
						common++
					}
				}
				if float64(common)/float64(len(s)+len(document)-common) >= threshold {
					partners++
					if !slices.Contains(found, i) {
						t.Fatalf("threshold %g: sample %v is a partner of %v and no candidate", threshold, s, document)
					}
				}
			}
		}
	}
	if partners < 1000 {
		t.Errorf("only %d partners in all", partners)
	}
}

func TestEstimateEdges(t *testing.T) {
	if r := Estimate(nil, false); r.Recall != 1 || r.Low != 0 || r.High != 1 || r.Sampled != 0 {
		t.Errorf("of nothing: %+v", r)
	}
	if r := Estimate(make([]Sample, 50), false); r.Sampled != 50 || r.Partnered != 0 || r.Low != 0 || r.High != 1 {
		t.Errorf("without partners: %+v", r)
	}
	all := slices.Repeat([]Sample{{Partners: 3, Found: 3, Recaptured: 2, BothFound: 2}, {}}, 300)
	if r := Estimate(all, false); r.Recall != 1 || r.Low != 0.99 || r.High != 1 || r.Pairs != 900 || r.Partnered != 300 || r.Recapture != 1 {
		t.Errorf("without a miss: %+v", r)
	}
	if r := Estimate([]Sample{{Partners: 4, Found: 1}, {Partners: 4, Found: 3}}, false); r.Recall != 0.5 || r.Low > 0.25 || r.High < 0.75 {
		t.Errorf("of two: %+v", r)
	}
	if r := Estimate([]Sample{{Partners: 4, Found: 1}, {Partners: 4, Found: 3}}, true); r.Recall != 0.5 || r.Low != 0.5 || r.High != 0.5 {
		t.Errorf("of all: %+v", r)
	}
	if a, b := Estimate(all[:7], false), Estimate(all[:7], false); a != b {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestEstimateCovers: the interval holds the true recall in
// at least 90 of 100 trials.
func TestEstimateCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, truth := range []float64{0.6, 0.9, 0.99} {
		covered := 0
		for range 200 {
			samples := make([]Sample, 400)
			for i := range samples {
				samples[i].Partners = 1 + random.IntN(6)
				for range samples[i].Partners {
					if random.Float64() < truth {
						samples[i].Found++
					}
				}
			}
			if r := Estimate(samples, false); r.Low <= truth && truth <= r.High && r.High-r.Low < 0.15 {
				covered++
			}
		}
		if covered < 180 {
			t.Errorf("a recall of %g is in %d of 200 intervals", truth, covered)
		}
	}
}
