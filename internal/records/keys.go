package records

import (
	"encoding/binary"
	"math"
	"math/bits"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
)

// The sizes of records, in bytes.
const (
	KeySize      = 40 // of a key record; to it come 4 for each previous key
	IDSize       = 16
	RefSize      = 8
	NodePairSize = 8
	NodeSize     = 16
	EdgeSize     = 16 // of an edge; to it come 8 if common shingles do not count
)

// FirstKey, a bit of a key record's position, says that the record holds the document's first key.
const FirstKey = 1 << 30

const hasSide = 1 << 31

// hasBitmap, a bit of a key record's position, says that a bitmap follows the previous keys.
const hasBitmap = 1 << 29

const bitmapSize = 16

const sideSize = 8

// LengthOfKey returns the size of a key record.
func LengthOfKey(r *candidates.Record) int {
	size := KeySize + 4*r.Words()
	if r.Side != 0 {
		size += sideSize
	}
	return size
}

// AfterKey returns the bytes after a packed key record.
func AfterKey(b []byte) []byte {
	size := KeySize + 4*candidates.KnownOf(binary.LittleEndian.Uint64(b))
	flags := binary.LittleEndian.Uint32(b[36:])
	if flags&hasBitmap != 0 {
		size += bitmapSize
	}
	if flags&hasSide != 0 {
		size += sideSize
	}
	return b[size:]
}

// KeyPosition returns the position of a packed key record.
func KeyPosition(b []byte) uint32 {
	return binary.LittleEndian.Uint32(b[36:]) &^ (FirstKey | hasSide | hasBitmap)
}

// IsFirstKey reports whether a packed key record is the first one of its document.
func IsFirstKey(b []byte) bool { return binary.LittleEndian.Uint32(b[36:])&FirstKey != 0 }

// SideOf returns the side of the document of a packed key record, 0 if it has none.
func SideOf(b []byte) uint64 {
	if binary.LittleEndian.Uint32(b[36:])&hasSide == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(b[len(b)-len(AfterKey(b))-sideSize:])
}

// PutKey packs a key record.
func PutKey(b []byte, r candidates.Record) {
	binary.LittleEndian.PutUint64(b, r.Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(r.Ref))
	r.Digest.Put(b[16:])
	binary.LittleEndian.PutUint32(b[32:], r.Size)
	position := r.Position
	if r.First {
		position |= FirstKey
	}
	if r.HasBitmap {
		position |= hasBitmap
	}
	for i, word := range r.Previous[:r.Words()] {
		binary.LittleEndian.PutUint32(b[KeySize+4*i:], word)
	}
	if r.Side != 0 {
		position |= hasSide
		binary.LittleEndian.PutUint64(b[KeySize+4*r.Words():], r.Side)
	}
	binary.LittleEndian.PutUint32(b[36:], position)
}

// GetKey reads a record and returns the bytes after it.
func GetKey(b []byte, r *candidates.Record) []byte {
	*r = candidates.Record{
		Key:    binary.LittleEndian.Uint64(b),
		Ref:    docref.Ref(binary.LittleEndian.Uint64(b[8:])),
		Digest: digest.Get(b[16:]),
		Size:   binary.LittleEndian.Uint32(b[32:]),
	}
	position := binary.LittleEndian.Uint32(b[36:])
	r.Position = position &^ (FirstKey | hasSide | hasBitmap)
	r.First, r.HasBitmap = position&FirstKey != 0, position&hasBitmap != 0
	b = b[KeySize:]
	words := r.Words()
	for i := range words {
		r.Previous[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	b = b[4*words:]
	if position&hasSide != 0 {
		r.Side = binary.LittleEndian.Uint64(b)
		b = b[sideSize:]
	}
	return b
}

// PutRef packs a ref.
func PutRef(b []byte, ref docref.Ref) { binary.LittleEndian.PutUint64(b, uint64(ref)) }

// GetRef reads a ref.
func GetRef(b []byte) docref.Ref { return docref.Ref(binary.LittleEndian.Uint64(b)) }

// PreviousKey returns the previous key of the document of a packed record, in the form that
// [candidates.Buckets.CountLink] asks for. Exact keys have a previous key of two words.
func PreviousKey(b []byte, isExact bool) uint64 {
	known := candidates.KnownOf(binary.LittleEndian.Uint64(b))
	if known == 0 || binary.LittleEndian.Uint32(b[36:])&FirstKey != 0 {
		return candidates.Unmet
	}
	latest := binary.LittleEndian.Uint32(b[KeySize:])
	if isExact {
		return candidates.PreviousShingle(latest, binary.LittleEndian.Uint32(b[KeySize+4:]))
	}
	return uint64(latest)
}

// NodePair is a candidate pair.
type NodePair struct{ A, B graphs.Node }

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

// HotGroupMember is a document of a hot group.
type HotGroupMember struct {
	Ref docref.Ref
	// Second is the other document that stands for its class, 0 if there is none; see [Want].
	Second docref.Ref
	// Other is another document of the hot group, or Ref.
	Other docref.Ref
	Size  uint32
}

// oversizedSize is the size of a document of an oversized group. To it come 4 for each word of Previous in use, RefSize
// if hasSecond is set, and sideSize in an oversized group with sides.
const oversizedSize = 16

// hasSecond, a bit of the position, says that the class has a second document.
const hasSecond = 1 << 31

func putOversized(b []byte, r *candidates.Record) {
	PutRef(b, r.Ref)
	binary.LittleEndian.PutUint32(b[8:], r.Size)
	position := r.Position
	if r.First {
		position |= FirstKey
	}
	if r.HasBitmap {
		position |= hasBitmap
	}
	if r.Second != r.Ref {
		position |= hasSecond
		PutRef(b[oversizedSize+4*r.Words():], r.Second)
	}
	if r.Side != 0 {
		binary.LittleEndian.PutUint64(b[len(b)-sideSize:], r.Side)
	}
	binary.LittleEndian.PutUint32(b[12:], position)
	for i, word := range r.Previous[:r.Words()] {
		binary.LittleEndian.PutUint32(b[oversizedSize+4*i:], word)
	}
}

// getOversized reads a document of an oversized group with that key, perhaps with sides, and returns the rest.
func getOversized(b []byte, r *candidates.Record, hasSides bool) []byte {
	ref := GetRef(b)
	*r = candidates.Record{Key: r.Key, Ref: ref, Second: ref, Size: binary.LittleEndian.Uint32(b[8:])}
	position := binary.LittleEndian.Uint32(b[12:])
	r.Position = position &^ (FirstKey | hasSecond | hasBitmap)
	r.First, r.HasBitmap = position&FirstKey != 0, position&hasBitmap != 0
	b = b[oversizedSize:]
	words := r.Words()
	for i := range words {
		r.Previous[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	b = b[4*words:]
	if position&hasSecond != 0 {
		r.Second = GetRef(b)
		b = b[RefSize:]
	}
	if hasSides {
		r.Side = binary.LittleEndian.Uint64(b)
		b = b[sideSize:]
	}
	return b
}

// oversizedHeader is the size of the head of an oversized group, before its documents: key, pairs, documents.
const oversizedHeader = 20

// hasSides, a bit of the number of documents of an oversized group, says that they have sides.
const hasSides = 1 << 31

// WriteOversized writes the documents of a group that waits.
func WriteOversized(run *runfile.Writer, shard int, group []candidates.Record, pairs int64) error {
	b, err := run.Record(OversizedGroups, shard, oversizedHeader)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, group[0].Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(pairs))
	documents := uint32(len(group))
	if group[0].Side != 0 {
		documents |= hasSides
	}
	binary.LittleEndian.PutUint32(b[16:], documents)
	for i := range group {
		r := &group[i]
		size := oversizedSize + 4*r.Words()
		if r.Second != r.Ref {
			size += RefSize
		}
		if r.Side != 0 {
			size += sideSize
		}
		if b, err = run.Record(OversizedGroups, shard, size); err != nil {
			return err
		}
		putOversized(b, r)
	}
	return nil
}

// OversizedReader reads oversized groups one after the other.
type OversizedReader struct {
	Packed []byte

	key       uint64
	hasSides  bool
	Pairs     int64
	Documents int
}

// Next goes on to the next oversized group. The documents of the current one must have been read.
func (c *OversizedReader) Next() bool {
	if len(c.Packed) == 0 {
		return false
	}
	c.key = binary.LittleEndian.Uint64(c.Packed)
	c.Pairs = int64(binary.LittleEndian.Uint64(c.Packed[8:]))
	documents := binary.LittleEndian.Uint32(c.Packed[16:])
	c.Documents, c.hasSides = int(documents&^hasSides), documents&hasSides != 0
	c.Packed = c.Packed[oversizedHeader:]
	return true
}

// Record reads the next document of the oversized group.
func (c *OversizedReader) Record(r *candidates.Record) {
	r.Key = c.key
	c.Packed = getOversized(c.Packed, r, c.hasSides)
}
