package scoring

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/graphs"
)

// TestOutlinesLoseNoPair: outlines rule out no two sets that are alike, and most that are not.
func TestOutlinesLoseNoPair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(set []uint64, n int) []uint64 {
		set = slices.Clone(set)
		for range n {
			set = append(set, random.Uint64()>>16)
		}
		slices.Sort(set)
		return set
	}
	ruledOut, unlike := 0, 0
	for i := range 20_000 {
		s := Similarity{Threshold: []float64{0.3, 0.5, 0.8, 1}[i%4]}
		both := draw(nil, 1+random.IntN(150))
		a, b := draw(both, random.IntN(60)), draw(both, random.IntN(60))
		x, y := document{size: len(a), set: a}, document{size: len(b), set: b}
		var o outlines
		o.add(&x)
		own := outlineOf(&y)
		distances := o.near(&own, []graphs.Pivot{0})
		rulesOut := func() bool {
			return max(int(distances[0]), o.distance(1, 0, &own)) > s.mostDiffering(x.size, y.size)
		}
		isOut := rulesOut()
		if _, isAlike := s.compare(&x, &y); isAlike && len(o.within(&own, s.mostDiffering(x.size, y.size))) == 0 {
			t.Fatalf("sets of %d and %d shingles with %d in common are far apart at %g", len(a), len(b), len(both),
				s.Threshold)
		}
		if _, isAlike := s.compare(&x, &y); !isAlike {
			unlike++
			if isOut {
				ruledOut++
			}
		} else if isOut {
			t.Fatalf("sets of %d and %d shingles with %d in common are ruled out at %g", len(a), len(b), len(both),
				s.Threshold)
		}
		if s.Smallest = 32; s.sizesAllow(min(x.size, y.size), max(x.size, y.size)) && rulesOut() {
			t.Fatal("outlines rule an estimate out")
		}
	}
	if ruledOut < unlike*8/10 {
		t.Errorf("%d of %d pairs that are not alike are ruled out", ruledOut, unlike)
	}
}

// TestMostOfAny: no set that another one may be like differs from it in more shingles, however low the threshold is.
func TestMostOfAny(t *testing.T) {
	for _, threshold := range []float64{1e-300, 1e-9, 0.3, 0.5, 0.8, 1} {
		s := Similarity{Threshold: threshold}
		for size := 1; size < 90; size++ {
			for _, largest := range []int{1, size, 200} {
				most := s.mostOfAny(size, largest)
				for other := 1; other <= largest; other++ {
					if n := s.mostDiffering(other, size); n > most {
						t.Fatalf("%g: sets of %d and %d may differ in %d shingles, any in %d", threshold, size, other, n, most)
					}
				}
			}
		}
	}
}
