package records

import (
	"encoding/binary"
	"errors"
	"math"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/read/sources"
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

func (f *Frequent) fields(c *codec) {
	numbers(c, &f.Shingle)
	numbers(c, &f.Documents)
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

func (s *SourceCount) fields(c *codec) {
	numbers(c, &s.Hash)
	numbers(c, &s.Documents)
	length := len(s.Name)
	small(c, 2, &length)
	small(c, 2, &s.Corpus)
	if c.isReading {
		s.Name, c.b = c.b[:length], c.b[length:]
	} else {
		c.b = append(c.b, s.Name...)
	}
}

// WriteSourceCount writes the record to a shard.
func WriteSourceCount(run *runfile.Writer, kind runfile.Kind, shard int, c SourceCount) error {
	return Write(run, kind, shard, &c)
}

// NextSourceCount reads the first record and returns the bytes of the others.
func NextSourceCount(packed []byte) (SourceCount, []byte) { return Next[SourceCount](packed) }

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

const StretchHeader = 16

// WriteShingles writes a stretch of hashes.
func WriteShingles(run *runfile.Writer, shard int, s Stretch) error {
	return writeStretch(run, Shingles, shard, s)
}

// WriteFrequencies writes a stretch of frequencies.
func WriteFrequencies(run *runfile.Writer, s Stretch) error {
	return writeStretch(run, Frequencies, s.Split, s)
}

func writeStretch(run *runfile.Writer, kind runfile.Kind, shard int, s Stretch) error {
	b, err := run.Record(kind, shard, StretchHeader+len(s.Packed))
	if err != nil {
		return err
	}
	for i, number := range []int{s.Range, s.Ranges, s.Split, len(s.Packed)} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(number))
	}
	copy(b[StretchHeader:], s.Packed)
	return nil
}

// NextStretch reads the first stretch and returns the bytes after it.
func NextStretch(b []byte) (s Stretch, rest []byte, err error) {
	damaged := errors.New("a stretch of shingles is damaged")
	if len(b) < StretchHeader {
		return s, nil, damaged
	}
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	s = Stretch{Range: number(0), Ranges: number(1), Split: number(2)}
	if s.Range >= s.Ranges || number(3) > len(b)-StretchHeader {
		return s, nil, damaged
	}
	end := StretchHeader + number(3)
	s.Packed = b[StretchHeader:end]
	return s, b[end:], nil
}

// Len returns the number of shingles of a stretch of [Shingles].
func (s Stretch) Len() int { return len(s.Packed) / CountedSize }
