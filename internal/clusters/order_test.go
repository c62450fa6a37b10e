package clusters

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/unionfind"
)

// TestOrder cuts clusters into output shards. No cluster is cut, clusters are ordered by their first documents, and
// shards are as even as that allows. Documents that are not listed have no position.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n, shards := random.IntN(60), 1+random.IntN(6)
		roots := unionfind.New[components.Rank](n)
		largest := 1
		size := make([]int, n)
		for i := range roots {
			if j := random.IntN(i + 1); random.IntN(2) == 0 {
				roots[i] = roots[j]
			}
			size[roots[i]]++
			largest = max(largest, size[roots[i]])
		}
		listed := make([]bool, n)
		for i := range listed {
			listed[i] = random.IntN(4) > 0
		}
		var ranks []components.Rank
		for i, root := range roots {
			if listed[root] {
				ranks = append(ranks, components.Rank(i))
			}
		}
		slices.SortStableFunc(ranks, func(a, b components.Rank) int { return int(roots[a]) - int(roots[b]) })
		o := newOrder(roots, listed, shards)
		for i, root := range roots {
			rank := components.Rank(i)
			if o.has(rank) != listed[root] || !listed[root] && o.of(rank).Shard != records.Nowhere {
				t.Fatalf("roots %v: document %d is at %+v, listed: %v", roots, i, o.of(rank), listed[root])
			}
		}
		next, count := records.Position{}, make([]int, shards)
		for i, rank := range ranks {
			got := o.of(rank)
			if got.Shard > next.Shard && got.Number == 0 && roots[rank] == rank {
				next = got // a shard begins with the first document of a cluster
			}
			if got != next {
				t.Fatalf("roots %v in %d shards: document %d, number %d in the order, is at %+v, want %+v", roots, shards, rank, i, got, next)
			}
			next.Number++
			count[got.Shard]++
		}
		if n > 0 && slices.Max(count) > len(ranks)/shards+largest {
			t.Errorf("roots %v: shards of %v", roots, count)
		}
	}
}
