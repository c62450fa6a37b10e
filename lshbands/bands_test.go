package lshbands

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPlanPicksTheMeasuredSchemes(t *testing.T) {
	for _, c := range []struct {
		threshold, recall float64
		given, want       Scheme
	}{
		{0.8, 0.99, Scheme{}, Scheme{7, 3}},
		{0.7, 0.99, Scheme{}, Scheme{11, 3}},
		{0.5, 0.99, Scheme{}, Scheme{35, 3}},
		{0.8, 0.99, Scheme{Rows: 4}, Scheme{9, 4}},
		{0.8, 0.99, Scheme{Bands: 26}, Scheme{26, 8}},
		{0.8, 0.99, Scheme{Bands: 2, Rows: 9}, Scheme{2, 9}},
		{0.2, 0.99, Scheme{}, Scheme{113, 2}},
		{0.01, 0.99, Scheme{}, Scheme{459, 1}},
		{1, 0.99, Scheme{}, Scheme{1, 3}},
	} {
		got, err := Plan(c.threshold, c.recall, c.given)
		if err != nil || got != c.want {
			t.Errorf("Plan(%g, %g, %v) = %v, %v, want %v", c.threshold, c.recall, c.given, got, err, c.want)
		}
	}
}

func TestPlanKeepsItsPromise(t *testing.T) {
	for _, recall := range []float64{0.5, 0.9, 0.99, 0.9999} {
		for threshold := 0.05; threshold <= 1; threshold += 0.01 {
			s, err := Plan(threshold, recall, Scheme{})
			if err != nil {
				t.Fatal(err)
			}
			if p := s.Probability(threshold); p < recall {
				t.Errorf("Plan(%g, %g) = %v reaches %g", threshold, recall, s, p)
			}
			fewer := Scheme{s.Bands - 1, s.Rows}
			if s.Bands > 1 && fewer.Probability(threshold) >= recall {
				t.Errorf("Plan(%g, %g) = %v: one band less would do", threshold, recall, s)
			}
		}
	}
}

func TestPlanSaysWhatToChange(t *testing.T) {
	for _, given := range []Scheme{{Rows: 9}, {Bands: 1}} {
		if s, err := Plan(0.1, 0.99, given); err == nil || !strings.Contains(err.Error(), "recall") {
			t.Errorf("Plan(0.1, 0.99, %v) = %v, %v", given, s, err)
		}
	}
}

// TestKeysFollowTheCurve draws signatures that agree in a component with
// probability J and compares how often they share a key with the S-curve.
func TestKeysFollowTheCurve(t *testing.T) {
	const trials = 20000
	random := rand.New(rand.NewPCG(1, 2))
	scheme := Scheme{7, 3}
	a, b := make([]uint32, scheme.Components()), make([]uint32, scheme.Components())
	for _, jaccard := range []float64{0.2, 0.5, 0.8} {
		met := 0
		for range trials {
			for i := range a {
				a[i] = random.Uint32()
				b[i] = a[i]
				if random.Float64() >= jaccard {
					b[i] = random.Uint32()
				}
			}
			keys, others := scheme.AppendKeys(nil, a), scheme.AppendKeys(nil, b)
			for band := range keys {
				if keys[band] == others[band] {
					met++
					break
				}
			}
		}
		p := scheme.Probability(jaccard)
		// Five standard errors: one false alarm in two million.
		if got := float64(met) / trials; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/trials) {
			t.Errorf("J = %g: %g share a key, the curve says %g", jaccard, got, p)
		}
	}
}

func TestKeysOfBandsDiffer(t *testing.T) {
	keys := Scheme{64, 2}.AppendKeys(nil, make([]uint32, 128))
	seen := map[uint64]int{}
	for band, key := range keys {
		if other, ok := seen[key]; ok {
			t.Errorf("bands %d and %d have one key for equal rows", other, band)
		}
		seen[key] = band
	}
}
