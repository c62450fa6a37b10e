package records

import (
	"math"
	"math/bits"

	"mirrorbeam/internal/carry/candidates"
)

// RangeOf returns the least and the greatest [candidates.KeyOf] of a shard.
func RangeOf(shard, shards int) (low, high uint64) {
	low, _ = bits.Div64(uint64(shard), 0, uint64(shards))
	high = math.MaxUint64
	if shard+1 < shards {
		high, _ = bits.Div64(uint64(shard+1), 0, uint64(shards))
	}
	return candidates.KeyOf(low, 0), candidates.KeyOf(high, 7)
}

// ShardOf cuts the range of evenly spread hashes into shards of equal width.
func ShardOf(hash uint64, shards int) int {
	high, _ := bits.Mul64(hash, uint64(shards))
	return int(high)
}
