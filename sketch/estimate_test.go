package sketch

import (
	"math"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/asmkernels"
)

func TestEstimateFingerprints(t *testing.T) {
	for _, c := range []struct {
		a, b []uint32
		size int
		want Estimate
	}{
		{nil, nil, 4, Estimate{Exact: true}},
		{[]uint32{1}, nil, 4, Estimate{Exact: true}},
		{[]uint32{1, 2, 3}, []uint32{1, 2, 3}, 4, Estimate{1, 1, 1, true}},
		{[]uint32{1, 2, 3}, []uint32{3}, 4, Estimate{1.0 / 3, 1.0 / 3, 1, true}},
		{[]uint32{1, 2, 3}, []uint32{1, 5, 6}, 3, Estimate{1.0 / 3, 1.0 / 3, 1, false}},
		{[]uint32{1, 2}, []uint32{7, 8, 9}, 3, Estimate{0, 0, 0, false}},
		{[]uint32{9}, []uint32{7, 8, 9}, 3, Estimate{1.0 / 3, 1, 1.0 / 3, false}},
		{nil, nil, 0, Estimate{}},
	} {
		if got := EstimateFingerprints(c.a, c.b, c.size); got != c.want {
			t.Errorf("EstimateFingerprints(%v, %v, %d) = %+v, want %+v", c.a, c.b, c.size, got, c.want)
		}
	}
}

// TestEstimateFingerprintsUnbiased checks the means within four standard errors. Without a fixed seed, each
// figure would give a false alarm once in some 16,000 runs. It checks the variance against its bound. It also
// checks that the article's own score is biased if the sizes of the sets differ.
func TestEstimateFingerprintsUnbiased(t *testing.T) {
	const size, trials = 32, 4000
	random := rand.New(rand.NewPCG(41, 42))
	for _, sizes := range [][3]int{{100, 100, 50}, {40, 800, 35}, {60, 70, 60}, {20, 300, 15}} {
		na, nb, both := sizes[0], sizes[1], sizes[2]
		truth := Estimate{
			Jaccard:      float64(both) / float64(na+nb-both),
			ContainmentA: float64(both) / float64(na),
			ContainmentB: float64(both) / float64(nb),
		}
		var jaccard, containmentA, containmentB, article moments
		for range trials {
			a, b := overlapping(random, na, nb, both)
			got := EstimateFingerprints(BottomK(a, size), BottomK(b, size), size)
			jaccard.add(got.Jaccard)
			containmentB.add(got.ContainmentB)
			// A sample without an element of A says nothing of its containment.
			if got.ContainmentA > 0 || na > nb/8 {
				containmentA.add(got.ContainmentA)
			}
			common := asmkernels.Intersect(BottomK(a, size), BottomK(b, size), 0)
			article.add(float64(common) / float64(min(na, size)+min(nb, size)-common))
		}
		jaccard.unbiased(t, "Jaccard", truth.Jaccard)
		containmentB.unbiased(t, "containment of B", truth.ContainmentB)
		if na > nb/8 {
			containmentA.unbiased(t, "containment of A", truth.ContainmentA)
		}
		if bound := truth.Jaccard * (1 - truth.Jaccard) / size; jaccard.variance() > bound*1.05 {
			t.Errorf("sets of %d and %d: variance %.5f is above its bound %.5f", na, nb, jaccard.variance(), bound)
		}
		if bias := article.mean() - truth.Jaccard; na < nb/8 && math.Abs(bias) < 20*article.standardError() {
			t.Errorf("sets of %d and %d: the score of the article is off by %.4f only", na, nb, bias)
		}
	}
}
