package graphs

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type record struct {
	key   uint64
	place int
}

func TestSortIsStableAndOrdered(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, small - 1, small, 5000} {
		for _, mask := range []uint64{0, 0xff, 0xff0000, 1<<63 | 3, ^uint64(0)} {
			records := make([]record, n)
			for i := range records {
				records[i] = record{random.Uint64()&mask | 1<<40, i}
			}
			want := slices.Clone(records)
			slices.SortStableFunc(want, func(a, b record) int { return cmp.Compare(a.key, b.key) })
			got := RadixSort(records, make([]record, n), func(r *record) uint64 { return r.key })
			if !slices.Equal(got, want) {
				t.Errorf("%d records under mask %#x: not in order", n, mask)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	source := make([]record, 1<<17)
	for i := range source {
		source[i].key = random.Uint64() >> 24
	}
	records, scratch := make([]record, len(source)), make([]record, len(source))
	b.SetBytes(int64(len(source)) * 16)
	for b.Loop() {
		copy(records, source)
		RadixSort(records, scratch, func(r *record) uint64 { return r.key })
	}
}
