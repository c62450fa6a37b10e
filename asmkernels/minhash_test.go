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
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 8))
		for components := range 300 {
			multipliers := oddMultipliers(random, components)
			for _, set := range [][]uint64{
				nil,
				{0},
				{0xffff},
				{0x10000},
				{0, 1<<48 - 1},
				randomSet(random, 1, 1<<48),
				randomSet(random, 30, 1<<48),
			} {
				got := make([]uint32, components)
				MinHash(got, multipliers, set)
				if want := naiveMinHash(multipliers, set); !slices.Equal(got, want) {
					t.Fatalf("MinHash with %d components of %d elements = %v, want %v", components, len(set), got, want)
				}
			}
		}
	})
}

func TestMinHashLeavesTheRestAlone(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		for components := range 140 {
			signature := make([]uint32, components+32)
			MinHash(signature[:components], oddMultipliers(rand.New(rand.NewPCG(9, 10)), components+32), nil)
			for i, got := range signature {
				if want := i < components; (got == math.MaxUint32) != want || !want && got != 0 {
					t.Fatalf("signature = %v, want exactly the first %d components set", signature, components)
				}
			}
		}
	})
}

func FuzzMinHash(f *testing.F) {
	f.Add(uint64(1), 21, []byte{1, 2, 3})
	f.Add(uint64(2), 129, make([]byte, 40))
	f.Fuzz(func(t *testing.T, seed uint64, components int, gaps []byte) {
		random := rand.New(rand.NewPCG(seed, 1))
		multipliers := oddMultipliers(random, components&0x3ff)
		set := ascending(gaps)
		for i := range set {
			set[i] <<= seed % 40
			set[i] &= 1<<48 - 1
		}
		want := naiveMinHash(multipliers, set)
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			got := make([]uint32, len(multipliers))
			MinHash(got, multipliers, set)
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: MinHash = %v, want %v", tier, got, want)
			}
		}
	})
}

func BenchmarkMinHash(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(11, 12))
		for _, components := range []int{21, 33, 51, 105, 128} {
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
	})
}
