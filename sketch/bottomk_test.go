package sketch

import (
	"math"
	"math/rand/v2"
	"testing"
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

func TestEstimateJaccardExact(t *testing.T) {
	for _, c := range []struct {
		a, b    []uint64
		na, nb  int
		k       int
		jaccard float64
		exact   bool
	}{
		{nil, nil, 0, 0, 4, 0, true},
		{[]uint64{1}, nil, 1, 0, 4, 0, true},
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}, 3, 3, 4, 1, true},
		{[]uint64{1, 2, 3}, []uint64{2, 3, 4}, 3, 3, 3, 0.5, true},
		{[]uint64{1, 2, 3}, []uint64{2, 3, 4}, 3, 9, 3, 2.0 / 3, false},
		{[]uint64{1, 2, 3}, []uint64{4, 5, 6}, 3, 9, 3, 0, false},
		{[]uint64{9}, []uint64{4, 5, 9}, 1, 9, 3, 1.0 / 3, false},
		{[]uint64{1, 5}, []uint64{1, 5, 6, 7}, 9, 9, 4, 1, false},
		{nil, nil, 9, 9, 0, 0, false},
	} {
		jaccard, exact := EstimateJaccard(c.a, c.b, c.na, c.nb, c.k)
		if jaccard != c.jaccard || exact != c.exact {
			t.Errorf("EstimateJaccard(%v, %v, %d, %d, %d) = %v, %v; want %v, %v",
				c.a, c.b, c.na, c.nb, c.k, jaccard, exact, c.jaccard, c.exact)
		}
	}
}

func TestEstimateJaccardUnbiased(t *testing.T) {
	const k, trials = 32, 4000
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][3]int{{100, 100, 50}, {20, 300, 15}, {60, 70, 60}} {
		na, nb, common := size[0], size[1], size[2]
		truth := float64(common) / float64(na+nb-common)
		sum := 0.0
		for range trials {
			a, b := overlapping(random, na, nb, common)
			jaccard, exact := EstimateJaccard(BottomK(a, k), BottomK(b, k), na, nb, k)
			if exact {
				t.Fatalf("estimate for sets of %d and %d elements is said to be exact", na, nb)
			}
			sum += jaccard
		}
		allowed := 4 * math.Sqrt(truth*(1-truth)/k/trials)
		if mean := sum / trials; math.Abs(mean-truth) > allowed {
			t.Errorf("sets of %d and %d elements: mean estimate %.4f, want %.4f within %.4f", na, nb, mean, truth, allowed)
		}
	}
}
