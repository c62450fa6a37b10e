package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/records"
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
