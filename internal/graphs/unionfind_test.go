package graphs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestForestIsThatOfThePairs compares the roots with those that repeated
// relabelling gives, for random pairs in random order.
func TestForestIsThatOfThePairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		n := 1 + random.IntN(60)
		pairs := make([][2]uint32, random.IntN(n))
		for i := range pairs {
			pairs[i] = [2]uint32{uint32(random.IntN(n)), uint32(random.IntN(n))}
		}
		want := NewForest[uint32](n)
		for changed := true; changed; {
			changed = false
			for _, p := range pairs {
				low := min(want[p[0]], want[p[1]])
				if want[p[0]] != low || want[p[1]] != low {
					want[p[0]], want[p[1]], changed = low, low, true
				}
			}
		}
		for range 2 {
			got := NewForest[uint32](n)
			for _, p := range pairs {
				got.Union(p[0], p[1])
			}
			got.Flatten()
			if !slices.Equal(got, want) {
				t.Fatalf("trial %d: roots %v, want %v for pairs %v", trial, got, want, pairs)
			}
			random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		}
	}
}
