package records

import (
	"encoding/binary"

	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

// Seen says that a document has a shingle.
type Seen struct {
	// Shingle is its hash of 48 bits, and Digest the lower 48 bits of the digest of the document.
	Shingle, Digest uint64
}

// SeenSize is the size of the record of a [Seen].
const SeenSize = 2 * sketchblock.HashSize

// WriteSeen writes that a document has a shingle, by ranges of hashes.
func WriteSeen(run *runfile.Writer, shards int, s Seen) error {
	b, err := run.Record(SeenShingles, ShardOf(s.Shingle<<16, shards), SeenSize)
	if err == nil {
		put48(b, s.Shingle)
		put48(b[sketchblock.HashSize:], s.Digest)
	}
	return err
}

// AppendSeen reads records.
func AppendSeen(all []Seen, packed []byte) []Seen {
	for ; len(packed) > 0; packed = packed[SeenSize:] {
		all = append(all, Seen{get48(packed), get48(packed[sketchblock.HashSize:])})
	}
	return all
}

func put48(b []byte, hash uint64) {
	binary.LittleEndian.PutUint32(b, uint32(hash))
	binary.LittleEndian.PutUint16(b[4:], uint16(hash>>32))
}

func get48(b []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint16(b[4:]))<<32
}

// Frequent is a shingle that so many distinct documents have.
type Frequent struct {
	Shingle   uint64
	Documents int64
}

const frequentSize = 16

// WriteFrequent writes a frequent shingle.
func WriteFrequent(run *runfile.Writer, f Frequent) error {
	b, err := run.Record(FrequentShingles, 0, frequentSize)
	if err == nil {
		binary.LittleEndian.PutUint64(b, f.Shingle)
		binary.LittleEndian.PutUint64(b[8:], uint64(f.Documents))
	}
	return err
}

// AppendFrequent reads records.
func AppendFrequent(all []Frequent, packed []byte) []Frequent {
	for ; len(packed) > 0; packed = packed[frequentSize:] {
		all = append(all, Frequent{binary.LittleEndian.Uint64(packed), int64(binary.LittleEndian.Uint64(packed[8:]))})
	}
	return all
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
