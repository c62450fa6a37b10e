package clusters

import (
	"sort"

	"mirrorbeam/internal/records"
)

// order is the order of the documents in the output.
type order struct {
	places []uint32 // place by rank, or nowhere
	starts []uint32 // first place of each shard
}

// nowhere is the place, and the shard, of a document that is not listed.
const nowhere = ^uint32(0)

// newOrder orders ranks of listed roots by root, then by rank. It cuts the order into shards of nearly equal numbers of
// documents without cutting a component.
func newOrder(roots []uint32, listed []bool, shards int) order {
	n := len(roots)
	ends := make([]uint32, n+1)
	for _, root := range roots {
		if listed[root] {
			ends[root+1]++
		}
	}
	for i := range n {
		ends[i+1] += ends[i]
	}
	o := order{places: make([]uint32, n), starts: make([]uint32, shards)}
	for shard := range shards {
		want := uint32(int64(ends[n]) * int64(shard) / int64(shards))
		// A component that starts at or after the cut belongs to the shard.
		o.starts[shard] = ends[sort.Search(n, func(root int) bool { return ends[root] >= want })]
	}
	for rank, root := range roots {
		if o.places[rank] = nowhere; listed[root] {
			o.places[rank] = ends[root]
			ends[root]++
		}
	}
	return o
}

// has reports whether a document is listed.
func (o order) has(rank uint32) bool { return o.places[rank] != nowhere }

// of returns the position of a document. The shard of a document that is not listed is nowhere.
func (o order) of(rank uint32) records.Position {
	place := o.places[rank]
	if place == nowhere {
		return records.Position{Shard: nowhere}
	}
	shard := sort.Search(len(o.starts), func(i int) bool { return o.starts[i] > place }) - 1
	return records.Position{Shard: uint32(shard), Number: place - o.starts[shard]}
}
