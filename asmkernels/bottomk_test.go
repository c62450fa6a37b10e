package asmkernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveFilter is the definition of filter.
func naiveFilter(list []uint64, limit uint64) (below []uint64) {
	for _, x := range list {
		if x < limit {
			below = append(below, x)
		}
	}
	return below
}

// randomElements returns a list of elements: about repeated of 8 are the
// same as others.
func randomElements(random *rand.Rand, size, repeated int) []uint64 {
	list := make([]uint64, size)
	for i := range list {
		list[i] = random.Uint64() & largestElement
		if random.IntN(8) < repeated {
			list[i] = list[random.IntN(i+1)]
		}
	}
	return list
}

func TestFilter(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(21, 22))
		for size := range 100 {
			list := randomElements(random, size, 1)
			limits := []uint64{0, 1, random.Uint64() & largestElement, largestElement, largestElement + 1}
			for _, limit := range append(limits, list...) {
				out := make([]uint64, size+overwritten)
				got, want := out[:filter(out, list, limit)], naiveFilter(list, limit)
				if !slices.Equal(got, want) {
					t.Fatalf("%d elements below %x: %x, want %x", size, limit, got, want)
				}
			}
		}
	})
}

func TestSortSmallest(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(23, 24))
		var sorter SetSorter
		check := func(list []uint64, k int) {
			t.Helper()
			want := naiveSet(list)
			want = want[:min(k, len(want))]
			if got := sorter.SortSmallest(slices.Clone(list), k); !slices.Equal(got, want) {
				t.Fatalf("%d smallest of %d elements: %x, want %x", k, len(list), got, want)
			}
		}
		for _, size := range []int{0, 1, 5, 20, 100, 300, 1000, 5000, 40000} {
			for _, k := range []int{0, 1, 2, 33, 128, 500, 1024, 1 << 40} {
				// The more is the same, the more often a limit is too low.
				for _, repeated := range []int{0, 4, 7, 8} {
					check(randomElements(random, size, repeated), k)
				}
				// Elements that are anything but evenly spread.
				low, high := make([]uint64, size), make([]uint64, size)
				for i := range low {
					low[i], high[i] = random.Uint64N(1000), largestElement-random.Uint64N(1000)
				}
				check(low, k)
				check(high, k)
			}
		}
	})
}

func TestSortSmallestAllocates(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		list := randomElements(rand.New(rand.NewPCG(25, 26)), 3000, 1)
		var sorter SetSorter
		sorter.SortSmallest(slices.Clone(list), 128)
		work := make([]uint64, len(list))
		if n := testing.AllocsPerRun(10, func() {
			copy(work, list)
			sorter.SortSmallest(work, 128)
		}); n != 0 {
			t.Errorf("selecting the smallest elements allocates %v times", n)
		}
	})
}

func FuzzSortSmallest(f *testing.F) {
	f.Add(uint64(1), uint16(3000), uint16(128), uint8(0), uint8(1))
	f.Add(uint64(2), uint16(200), uint16(0), uint8(40), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, size, k uint16, shift, repeated uint8) {
		list := randomElements(rand.New(rand.NewPCG(seed, 1)), int(size), int(repeated%9))
		for i := range list {
			list[i] >>= shift % ElementBits
		}
		want := naiveSet(list)
		want = want[:min(int(k), len(want))]
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			var sorter SetSorter
			got := sorter.SortSmallest(slices.Clone(list), int(k))
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: %d smallest of %d elements: %x, want %x", tier, k, size, got, want)
			}
		}
	})
}

// BenchmarkSortSmallest compares with sorting all, both of a fresh copy.
func BenchmarkSortSmallest(b *testing.B) {
	const k = 128
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(27, 28))
		for _, size := range []int{200, 300, 500, 2000, 20000} {
			list := randomElements(random, size, 1)
			work := make([]uint64, size)
			var sorter SetSorter
			out := make([]uint64, size+overwritten)
			for name, sort := range map[string]func(){
				"all":      func() { sorter.Sort(work) },
				"smallest": func() { sorter.SortSmallest(work, k) },
				"filter":   func() { filter(out, work, k<<ElementBits/uint64(size)) },
			} {
				b.Run(fmt.Sprintf("%d/%s", size, name), func(b *testing.B) {
					for b.Loop() {
						copy(work, list)
						sort()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/element")
				})
			}
		}
	})
}
