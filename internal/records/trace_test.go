package records

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTraces: the similarity of traces is the similarity of the sets, but for its error, be the sets large or small.
func TestTraces(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	set := func(n int) []uint64 {
		all := make([]uint64, n)
		for i := range all {
			all[i] = random.Uint64N(1 << 48)
		}
		return all
	}
	const draws = 300
	for _, size := range []int{4, 20, 1000} {
		for _, quarters := range []int{0, 2, 3, 4} { // of the union are in both sets
			sum := 0.
			for range draws {
				union := set(4 * size)
				own, both := (4-quarters)*size/2, quarters*size
				a, b := TraceOf(union[:own+both]), TraceOf(union[own:])
				sum += a.Similarity(&b)
			}
			if got, want := sum/draws, float64(quarters)/4; math.Abs(got-want) > .05 {
				t.Errorf("%d shingles of similarity %g: %g", 4*size, want, got)
			}
		}
	}
	if none, one := TraceOf(nil), TraceOf(set(1)); none.Similarity(&one) > .5 || none.Similarity(&none) != 1 {
		t.Errorf("a page without shingles: %v and %v", none, one)
	}
}

// TestSampleOfTraces: the sample does not depend on the order of the pages, and has each trace once.
func TestSampleOfTraces(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	all := make([]Trace, 50)
	for i := range all {
		all[i] = TraceOf([]uint64{random.Uint64()})
	}
	var want, got Traces
	for i := range all {
		want.Add(&all[i])
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		got.Add(&all[i])
		got.Add(&all[random.IntN(len(all))])
	}
	if !slices.Equal(got, want) || len(got) != mostTraces {
		t.Errorf("%d traces of %d, and others", len(got), len(want))
	}
}
