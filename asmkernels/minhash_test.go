package asmkernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveMinHash is the definition of MinHash.
func naiveMinHash(multipliers []uint32, set []uint64) []uint32 {
	signature := make([]uint32, len(multipliers))
	for i, m := range multipliers {
		signature[i] = math.MaxUint32
		for _, x := range set {
			v := uint32(x >> 16)
			if v == 0 {
				v = 1
			}
			signature[i] = min(signature[i], m*v)
		}
	}
	return signature
}

// oddMultipliers returns n odd numbers.
func oddMultipliers(random *rand.Rand, n int) []uint32 {
	multipliers := make([]uint32, n)
	for i := range multipliers {
		multipliers[i] = random.Uint32() | 1
	}
	return multipliers
}

func TestMinHash(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for components := range 40 {
		multipliers := oddMultipliers(random, components)
		for _, set := range [][]uint64{
			nil,
			{0},
			{0xffff},
			{0x10000},
			{0, 1<<48 - 1},
			randomSet(random, 1, 1<<48),
			randomSet(random, 300, 1<<48),
		} {
			got := make([]uint32, components)
			MinHash(got, multipliers, set)
			if want := naiveMinHash(multipliers, set); !slices.Equal(got, want) {
				t.Fatalf("MinHash with %d components of %d elements = %v, want %v", components, len(set), got, want)
			}
		}
	}
}

func TestMinHashLeavesTheRestAlone(t *testing.T) {
	signature := make([]uint32, 12)
	MinHash(signature[:10], oddMultipliers(rand.New(rand.NewPCG(9, 10)), 12), nil)
	if signature[9] != math.MaxUint32 || signature[10] != 0 || signature[11] != 0 {
		t.Fatalf("signature = %v, want exactly the first 10 components set", signature)
	}
}

func BenchmarkMinHash(b *testing.B) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, components := range []int{21, 128} {
		for _, size := range []int{20, 200, 2000} {
			multipliers, set := oddMultipliers(random, components), randomSet(random, size, 1<<48)
			signature := make([]uint32, components)
			b.Run(fmt.Sprintf("%dx%d", components, size), func(b *testing.B) {
				for b.Loop() {
					MinHash(signature, multipliers, set)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
			})
		}
	}
}
