// Package candidates finds the pairs of documents that share a key.
package candidates

import (
	"cmp"
	"math/bits"
	"slices"

	"mirrorbeam/internal/docref"
)

// Record says that a document has a key.
type Record struct {
	// Key is evenly spread over its 61 upper bits. The lowest three say how many
	// of Previous are in use, the same for all records of a key.
	Key uint64
	Ref docref.Ref
	// Digest tells which documents are identical under the measure.
	Digest uint64
	// Size is the number of distinct shingles of the document.
	Size uint32
	// Position is how many of an exact key's shingles come before it in their order,
	// else the number of the key among those of the document.
	Position uint32
	// Previous holds hashes of the document's keys before this one, the latest
	// first; for exact keys see SetPrevious.
	Previous [MaxPrevious]uint32
	// First says that this is the document's first key.
	First bool
	// AfterDense says of an exact key that one before it may be of a dense group.
	AfterDense bool

	// onlyReference says that no document of the input is in the class of equal
	// documents that the record stands for; see distinct.
	onlyReference bool

	// Mark is for the receiver of pairs to use.
	Mark uint32
}

// MaxPrevious is how many keys a document is known to have had before a key: all
// for schemes of up to seven, such as that of the threshold 0.8.
const MaxPrevious = 6

const previousMask = 7

// KeyOf returns the Key of a record: the hash of a key, and how many previous ones
// the record holds.
func KeyOf(hash uint64, previous int) uint64 { return hash&^previousMask | uint64(previous) }

// Known returns how many of the previous keys are in use.
func (r *Record) Known() int { return int(r.Key & previousMask) }

// hash returns what other records of the document hold of this key in Previous.
func (r *Record) hash() uint32 { return PreviousOf(r.Key) }

// PreviousOf returns what later records hold of the hash of a key.
func PreviousOf(hash uint64) uint32 { return uint32(hash >> 3) }

// met reports whether two records of one key have an earlier key in common.
func (r *Record) met(other *Record) bool {
	for i := range r.Known() {
		if r.Previous[i] == other.Previous[i] {
			return true
		}
	}
	return false
}

// Sort brings records of one key together; scratch is as long as records. It
// returns the slice that holds the result. Keys being evenly spread, one pass
// by their leading bits leaves little to sort.
func Sort(records, scratch []Record) []Record {
	width := bits.Len(uint(len(records)))
	if width < 8 {
		slices.SortFunc(records, byKey)
		return records
	}
	width = min(width, 20)
	// A shard holds keys of one range, which the bits that all share are cut off
	// from.
	low, high := records[0].Key, records[0].Key
	for i := range records {
		low, high = min(low, records[i].Key), max(high, records[i].Key)
	}
	shift := max(bits.Len64(high-low)-width, 0)
	ends := make([]uint32, 1<<width+1)
	for i := range records {
		ends[(records[i].Key-low)>>shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	scratch = scratch[:len(records)]
	for i := range records {
		at := (records[i].Key - low) >> shift
		scratch[ends[at]] = records[i]
		ends[at]++
	}
	start := uint32(0)
	for _, end := range ends[:len(ends)-1] {
		if end-start > 1 {
			slices.SortFunc(scratch[start:end], byKey)
		}
		start = end
	}
	return scratch
}

// byKey orders by key, then brings identical documents together, first one
// first.
func byKey(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Ref, b.Ref))
}
