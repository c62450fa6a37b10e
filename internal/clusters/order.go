package clusters

import (
	"sort"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/records"
)

// ordinal is the number of a document among those of all output shards, from 0.
type ordinal uint32

// unlisted is the ordinal of a document that is not listed.
const unlisted = ^ordinal(0)

// order is the order of the documents in the output.
type order struct {
	ordinals []ordinal // by rank; unlisted for a document that is not listed
	starts   []ordinal // first ordinal of each shard
}

// newOrder orders ranks of listed roots by root, then by rank. It cuts the order into shards of nearly equal numbers of
// documents without cutting a component.
func newOrder(roots []components.Rank, listed []bool, shards int) order {
	n := len(roots)
	ends := make([]ordinal, n+1) // first ordinal of each component, by root; later its next one
	for _, root := range roots {
		if listed[root] {
			ends[root+1]++
		}
	}
	for i := range n {
		ends[i+1] += ends[i]
	}
	o := order{ordinals: make([]ordinal, n), starts: make([]ordinal, shards)}
	for shard := range shards {
		want := ordinal(int64(ends[n]) * int64(shard) / int64(shards))
		// A component that starts at or after the cut belongs to the shard.
		o.starts[shard] = ends[sort.Search(n, func(root int) bool { return ends[root] >= want })]
	}
	for rank, root := range roots {
		if o.ordinals[rank] = unlisted; listed[root] {
			o.ordinals[rank] = ends[root]
			ends[root]++
		}
	}
	return o
}

// has reports whether a document is listed.
func (o order) has(rank components.Rank) bool { return o.ordinals[rank] != unlisted }

// of returns the position of a document. The shard of a document that is not listed is [records.Nowhere].
func (o order) of(rank components.Rank) records.Position {
	at := o.ordinals[rank]
	if at == unlisted {
		return records.Position{Shard: records.Nowhere}
	}
	shard := sort.Search(len(o.starts), func(i int) bool { return o.starts[i] > at }) - 1
	return records.Position{Shard: records.OutputShard(shard), Number: records.Number(at - o.starts[shard])}
}
