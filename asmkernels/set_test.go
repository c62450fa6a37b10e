package asmkernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveSet is what SetSorter.Sort must return.
func naiveSet(list []uint64) []uint64 {
	set := slices.Clone(list)
	slices.Sort(set)
	return slices.Compact(set)
}

const largestElement = 1<<ElementBits - 1

// listKinds are kinds of lists to sort, by their elements.
var listKinds = []struct {
	name string
	next func(random *rand.Rand, i int) uint64
}{
	{"random", func(random *rand.Rand, _ int) uint64 { return random.Uint64() & largestElement }},
	{"one value", func(*rand.Rand, int) uint64 { return largestElement }},
	{"zero", func(*rand.Rand, int) uint64 { return 0 }},
	{"ascending", func(_ *rand.Rand, i int) uint64 { return uint64(i) << 20 }},
	{"descending", func(_ *rand.Rand, i int) uint64 { return largestElement - uint64(i)<<20 }},
	{"one bucket", func(random *rand.Rand, _ int) uint64 { return 5<<40 | random.Uint64()&0xffff }},
	{"one bucket descending", func(_ *rand.Rand, i int) uint64 { return largestElement - uint64(i) }},
	{"two values in one bucket", func(random *rand.Rand, _ int) uint64 { return 7<<40 | random.Uint64()&1 }},
	{"few values", func(random *rand.Rand, _ int) uint64 { return random.Uint64() % 50 << 30 }},
	{"zeros and ones", func(random *rand.Rand, _ int) uint64 { return random.Uint64() & 1 * (1 << 40) }},
}

func TestSetSorter(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		var sorter SetSorter
		for _, kind := range listKinds {
			t.Run(kind.name, func(t *testing.T) {
				sizes := []int{1000, 1 << 14, 1<<14 + 1, manyElements, manyElements + 1, 100_000}
				for size := range 300 {
					sizes = append(sizes, size)
				}
				for _, size := range sizes {
					list := make([]uint64, size)
					for i := range list {
						list[i] = kind.next(random, i)
					}
					want := naiveSet(list)
					if got := sorter.Sort(list); !slices.Equal(got, want) {
						t.Fatalf("%d elements: got %d distinct, want %d, or not the same", size, len(got), len(want))
					}
				}
			})
		}
	})
}

// TestSetSorterZeroOne sorts lists of zeros and ones. A network that sorts all
// of them sorts everything (Knuth, The art of computer programming, 5.3.4).
func TestSetSorterZeroOne(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		var sorter SetSorter
		for size := 1; size <= 128; size++ {
			for range 200 {
				// A different element at every place, so that none is removed:
				// zeros are below ones, and otherwise any order would do.
				list := make([]uint64, size)
				share := random.IntN(9)
				for i := range list {
					list[i] = uint64(i)
					if random.IntN(8) < share {
						list[i] |= 1 << 40
					}
				}
				want := naiveSet(list)
				if got := sorter.Sort(list); !slices.Equal(got, want) {
					t.Fatalf("set of %d elements = %x, want %x", size, got, want)
				}
			}
		}
	})
}

func TestSetSorterAllocates(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		var sorter SetSorter
		list := make([]uint64, 1000)
		sorter.Sort(list)
		if n := testing.AllocsPerRun(10, func() { sorter.Sort(list) }); n != 0 {
			t.Errorf("a warm SetSorter allocates %v times", n)
		}
	})
}

func FuzzSetSorter(f *testing.F) {
	f.Add(uint64(1), 20, uint8(0), uint8(0))
	f.Add(uint64(2), 128, uint8(40), uint8(0))
	f.Add(uint64(3), 129, uint8(0), uint8(45))
	f.Add(uint64(4), 3000, uint8(20), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, size int, shift, drop uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		list := make([]uint64, size&0xfff)
		for i := range list {
			list[i] = random.Uint64() >> (drop % 64) << (shift % 48) & largestElement
		}
		want := naiveSet(list)
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			var sorter SetSorter
			got := sorter.Sort(slices.Clone(list))
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: set of %x = %x, want %x", tier, list, got, want)
			}
		}
	})
}

// BenchmarkSet measures sorting by the size of the list, with the worst kinds
// of repetitions for the last one.
func BenchmarkSet(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(3, 4))
		run := func(name string, size int, mask uint64) {
			b.Run(name, func(b *testing.B) {
				// Enough lists that the branches of a short one are not learned.
				lists := make([][]uint64, max(1, 100_000/size))
				for i := range lists {
					lists[i] = make([]uint64, size)
					for j := range lists[i] {
						lists[i][j] = random.Uint64() & mask
					}
				}
				var sorter SetSorter
				list := make([]uint64, size)
				for b.Loop() {
					for i := range lists {
						copy(list, lists[i])
						sorter.Sort(list)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size*len(lists)), "ns/element")
			})
		}
		for _, size := range []int{5, 10, 20, 40, 60, 130, 200, 2000, 20_000, 200_000, 1_000_000} {
			run(fmt.Sprint(size), size, largestElement)
		}
		run("one value", 1_000_000, 0)
		run("two values", 1_000_000, 1)
		run("one bucket", 1_000_000, 0xffff)
	})
}
