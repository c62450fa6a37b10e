//go:build unix

package asmkernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMinHashStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(9, 10))
		for components := range 140 {
			for _, atEnd := range []bool{false, true} {
				multipliers := guarded(t, oddMultipliers(random, components), atEnd)
				set := guarded(t, randomSet(random, components%5, 1<<48), atEnd)
				got := guarded(t, make([]uint32, components), atEnd)
				MinHash(got, multipliers, set)
				if want := naiveMinHash(multipliers, set); !slices.Equal(got, want) {
					t.Fatalf("MinHash with %d components = %v, want %v", components, got, want)
				}
			}
		}
	})
}

