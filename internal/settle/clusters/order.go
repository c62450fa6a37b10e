package clusters

import (
	"fmt"
	"math"

	"mirrorbeam/internal/carry/records"
)

// order gives components their positions in the output, in the order of their first documents. It cuts that order into
// shards of nearly equal numbers of documents without cutting a component. The zero order has no shard.
type order struct {
	shards int
	total  int64 // number of documents
	next   int64 // number of documents before the next component
	shard  int   // the current shard
	start  int64 // number of documents before it
}

// add returns the position of the first document of the next component, which has the given number of documents. The sum of all
// sizes must be the total.
func (o *order) add(size int64) (records.Position, error) {
	// A component that starts at or after the cut belongs to the shard.
	for o.shard+1 < o.shards && o.next >= o.cut(o.shard+1) {
		o.shard++
		o.start = o.next
	}
	number := o.next - o.start
	o.next += size
	if o.next-o.start > math.MaxUint32 {
		return records.Position{}, fmt.Errorf("order clusters: output shard %d has more than %d documents", o.shard, uint32(math.MaxUint32))
	}
	return records.Position{Shard: records.OutputShard(o.shard), Number: records.Number(number)}, nil
}

// cut returns the number of documents before a shard if components could be cut.
func (o *order) cut(shard int) int64 { return o.total * int64(shard) / int64(o.shards) }
