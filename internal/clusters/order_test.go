package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
)

// TestOrder cuts clusters into output shards. No cluster is cut, clusters stay in order, and shards are as even as that
// allows.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		o := order{shards: 1 + random.IntN(6)}
		sizes := make([]int64, random.IntN(30))
		for i := range sizes {
			sizes[i] = 1 + random.Int64N(1+random.Int64N(20))
			o.total += sizes[i]
		}
		next, count := records.Position{}, make([]int64, o.shards)
		for i, size := range sizes {
			got, err := o.add(size)
			if err != nil {
				t.Fatal(err)
			}
			if got.Shard > next.Shard && got.Number == 0 {
				next = got
			}
			if got != next {
				t.Fatalf("clusters of %v in %d shards: cluster %d is at %+v, want %+v", sizes, o.shards, i, got, next)
			}
			next.Number += records.Number(size)
			count[got.Shard] += size
		}
		if len(sizes) > 0 && slices.Max(count) > o.total/int64(o.shards)+slices.Max(sizes) {
			t.Errorf("clusters of %v: shards of %v", sizes, count)
		}
	}
}

// TestSums: from its position in a range each document gets the output shard that an order of all gives it, and the
// number, counted from one place in the shard.
func TestSums(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		shards := 1 + random.IntN(6)
		whole, of := order{shards: shards}, sums{}
		ranges := make([][]int64, 1+random.IntN(5)) // sizes of components
		for number := range ranges {
			of.Before = append(of.Before, of.Total)
			for range random.IntN(9) {
				size := 1 + random.Int64N(1+random.Int64N(20))
				ranges[number] = append(ranges[number], size)
				of.Total += size
			}
		}
		whole.total = of.Total
		begins := map[records.OutputShard]records.Number{}
		for number, sizes := range ranges {
			inRange := order{shards: number + 1, shard: number}
			for _, size := range sizes {
				want, err := whole.add(size)
				if err != nil {
					t.Fatal(err)
				}
				first, err := inRange.add(size)
				if err != nil {
					t.Fatal(err)
				}
				last := records.Position{Shard: first.Shard, Number: first.Number + records.Number(size-1)}
				at, start, err := of.position(records.RangePosition{At: last, First: first.Number}, shards)
				if err != nil {
					t.Fatal(err)
				}
				if want.Number == 0 {
					begins[want.Shard] = start.Number
				}
				if begin := begins[want.Shard]; start != (records.Position{
					Shard:  want.Shard,
					Number: want.Number + begin,
				}) ||
					at != (records.Position{Shard: want.Shard, Number: start.Number + records.Number(size-1)}) {
					t.Fatalf("%v in %d shards: a component of %d is at %+v to %+v, want %+v behind %d", ranges, shards,
						size, start, at, want, begin)
				}
			}
		}
	}
}

// TestSumsOfTooMany: a shard with more documents than there are numbers is an error.
func TestSumsOfTooMany(t *testing.T) {
	of := sums{Before: []int64{0, math.MaxUint32}, Total: 1 << 34}
	if at, _, err := of.position(records.RangePosition{At: records.Position{Shard: 1, Number: 1}}, 1); err == nil {
		t.Errorf("%+v", at)
	}
}

// TestOrderOfTooMany: a shard with more documents than there are numbers is an error.
func TestOrderOfTooMany(t *testing.T) {
	o := order{shards: 2, total: 1 << 34}
	if at, err := o.add(math.MaxUint32); err != nil || at != (records.Position{}) {
		t.Errorf("%+v (%v)", at, err)
	}
	if at, err := o.add(1); err == nil {
		t.Errorf("%+v", at)
	}
}
