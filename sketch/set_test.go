package sketch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveSet is what setSorter.sort must return.
func naiveSet(list []uint64) []uint64 {
	set := slices.Clone(list)
	slices.Sort(set)
	return slices.Compact(set)
}

func TestSetSorter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const largest = 1<<elementBits - 1
	element := func() uint64 { return random.Uint64() & largest }
	kinds := []struct {
		name string
		next func(i int) uint64
	}{
		{"random", func(int) uint64 { return element() }},
		{"one value", func(int) uint64 { return largest }},
		{"zero", func(int) uint64 { return 0 }},
		{"ascending", func(i int) uint64 { return uint64(i) << 20 }},
		{"descending", func(i int) uint64 { return largest - uint64(i)<<20 }},
		{"one bucket", func(int) uint64 { return 5<<40 | element()&0xffff }},
		{"one bucket descending", func(i int) uint64 { return largest - uint64(i) }},
		{"two values in one bucket", func(int) uint64 { return 7<<40 | element()&1 }},
		{"few values", func(int) uint64 { return element() % 50 << 30 }},
	}
	var sorter setSorter
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 2, 3, fewElements, fewElements + 1, 100, 1000, manyElements, manyElements + 1, 100_000} {
				list := make([]uint64, size)
				for i := range list {
					list[i] = kind.next(i)
				}
				want := naiveSet(list)
				if got := sorter.sort(list); !slices.Equal(got, want) {
					t.Fatalf("%d elements: got %d distinct, want %d, or not the same", size, len(got), len(want))
				}
			}
		})
	}
}

// BenchmarkSet measures sorting by the size of the list, with the worst kinds
// of repetitions for the last one.
func BenchmarkSet(b *testing.B) {
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
			var sorter setSorter
			list := make([]uint64, size)
			for b.Loop() {
				for i := range lists {
					copy(list, lists[i])
					sorter.sort(list)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size*len(lists)), "ns/element")
		})
	}
	for _, size := range []int{20, 60, 200, 2000, 20_000, 200_000, 1_000_000} {
		run(fmt.Sprint(size), size, 1<<elementBits-1)
	}
	run("one value", 1_000_000, 0)
	run("two values", 1_000_000, 1)
	run("one bucket", 1_000_000, 0xffff)
}
