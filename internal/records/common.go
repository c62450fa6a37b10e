package records

import (
	"encoding/binary"
	"errors"
	"math"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// Seen says that a document has a shingle.
type Seen struct {
	// Shingle is its hash of 48 bits, and Digest the lower 48 bits of the digest of the document.
	Shingle, Digest uint64
}

// seenHeader is the size of what comes before the shingles of a record: the digest and their number.
const seenHeader = sketchblock.HashSize + 2

// WriteSeen writes that the document of a digest has these shingles, which ascend, by ranges of hashes.
func WriteSeen(run *runfile.Writer, shards int, digest uint64, shingles []uint64) error {
	for len(shingles) > 0 {
		shard, n := ShardOf(shingles[0]<<16, shards), 1
		for n < len(shingles) && n < math.MaxUint16 && ShardOf(shingles[n]<<16, shards) == shard {
			n++
		}
		b, err := run.Record(SeenSets, shard, seenHeader+n*sketchblock.HashSize)
		if err != nil {
			return err
		}
		put48(b, digest)
		binary.LittleEndian.PutUint16(b[sketchblock.HashSize:], uint16(n))
		for i, shingle := range shingles[:n] {
			put48(b[seenHeader+i*sketchblock.HashSize:], shingle)
		}
		shingles = shingles[n:]
	}
	return nil
}

// EachSeen visits what records say, in their order.
func EachSeen(packed []byte, visit func(Seen)) {
	for len(packed) > 0 {
		digest, n := get48(packed), int(binary.LittleEndian.Uint16(packed[sketchblock.HashSize:]))
		for packed = packed[seenHeader:]; n > 0; n-- {
			visit(Seen{get48(packed), digest})
			packed = packed[sketchblock.HashSize:]
		}
	}
}

func put48(b []byte, hash uint64) {
	binary.LittleEndian.PutUint32(b, uint32(hash))
	binary.LittleEndian.PutUint16(b[4:], uint16(hash>>32))
}

func get48(b []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint16(b[4:]))<<32
}

// Frequent is a shingle, with the number of distinct documents that have it.
type Frequent struct {
	Shingle   uint64
	Documents int64
}

// AppendCommonPart appends the common shingles of a document: their number, then the hashes.
func AppendCommonPart(b []byte, shared []uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(shared)))
	return sketchblock.AppendPacked(b, shared)
}

// NextCommonPart reads the common shingles of a document, packed, and returns the bytes of the next ones.
func NextCommonPart(b []byte) (packed, rest []byte) {
	end := 4 + sketchblock.HashSize*int(binary.LittleEndian.Uint32(b))
	return b[4:end:end], b[end:]
}

// SourceCount says how many documents of a corpus have a value that makes them a source.
type SourceCount struct {
	Hash      uint64
	Documents int64
	Corpus    sources.Corpus
	Name      []byte // the value as tables show it, shorter than 64 KiB
}

// Stretch is a record of shingles of one split that lie in one range of hashes, in the order of its sets.
type Stretch struct {
	// Ranges counts the ranges, and Range is the number of this one.
	Range, Ranges int
	Split         int
	// Packed are the lower 24 bits of each hash in records of [Shingles], and the frequency of each in records of
	// [Frequencies]: 3 bytes or 1 byte a shingle.
	Packed []byte
}

// CountedSize is the size of a hash in a stretch of [Shingles].
const CountedSize = asmkernels.CountedSize

// NextStretch reads the first stretch and returns the bytes after it.
func NextStretch(b []byte) (s Stretch, rest []byte, err error) {
	if rest, err = packed.Next(b, &s); err != nil || s.Range < 0 || s.Range >= s.Ranges {
		return s, nil, errors.Join(errors.New("a stretch of shingles is damaged"), err)
	}
	return s, rest, nil
}

// Len returns the number of shingles of a stretch of [Shingles].
func (s Stretch) Len() int { return len(s.Packed) / CountedSize }

// Occurrence is a node of a part of a graph, where many tasks join the parts.
type Occurrence struct {
	// First is the first document of its tree that the writer knows.
	First docref.Ref
	// Ref and Weight are the document.
	Ref    docref.Ref
	Weight uint64
	graphs.Origin
}

const OccurrenceSize = 2*RefSize + 16

// RangePosition is where a node of the similarity graph is among the documents of clusters that begin in a range.
type RangePosition struct {
	// At is the range instead of an output shard, and the number of the document there.
	At Position
	// First is the number of the first document of the cluster.
	First Number
}

// AuditDocument is a document that is sampled for the audit. Its set is packed.
type AuditDocument struct {
	Ref         docref.Ref
	Hash        uint64 // by which it is chosen, see [documents.Inputs.AuditHash]
	Digest      uint64 // the first word of its digest
	Scope, Side uint64
	Set         []byte
}

// AppendAuditDocument packs a document that is set apart, with a set that is not packed yet instead of its own.
func AppendAuditDocument(b []byte, d AuditDocument, set []uint64) []byte {
	d.Set = sketchblock.AppendPacked(nil, set)
	return Append(b, &d)
}

// Sampled is a document of the sample: the hash by which it was chosen, and the number of its class.
type Sampled struct {
	Hash  uint64
	Class uint32
}
