package records

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/ground/runfile"
)

// crowdedSize is the size of a document of a crowd. To it come 4 for each word of Previous in use, RefSize if hasSecond is
// set, and sideSize in a crowd with sides.
const crowdedSize = 16

// hasSecond, a bit of the position, says that the class has a second document.
const hasSecond = 1 << 31

func putCrowded(b []byte, r *candidates.Record) {
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
		PutRef(b[crowdedSize+4*r.Words():], r.Second)
	}
	if r.Side != 0 {
		binary.LittleEndian.PutUint64(b[len(b)-sideSize:], r.Side)
	}
	binary.LittleEndian.PutUint32(b[12:], position)
	for i, word := range r.Previous[:r.Words()] {
		binary.LittleEndian.PutUint32(b[crowdedSize+4*i:], word)
	}
}

// getCrowded reads a document of a crowd with that key, which may have sides, and returns the bytes after it.
func getCrowded(b []byte, r *candidates.Record, hasSides bool) []byte {
	ref := GetRef(b)
	*r = candidates.Record{Key: r.Key, Ref: ref, Second: ref, Size: binary.LittleEndian.Uint32(b[8:])}
	position := binary.LittleEndian.Uint32(b[12:])
	r.Position, r.First, r.HasBitmap = position&^(FirstKey|hasSecond|hasBitmap), position&FirstKey != 0, position&hasBitmap != 0
	b = b[crowdedSize:]
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

// crowdHeader is the size of the head of a crowd: its key, and its numbers of pairs and documents. The documents
// follow.
const crowdHeader = 20

// hasSides, a bit of the number of documents of a crowd, says that they have sides.
const hasSides = 1 << 31

// WriteCrowd writes the documents of a group that waits.
func WriteCrowd(run *runfile.Writer, shard int, group []candidates.Record, pairs int64) error {
	b, err := run.Record(Crowds, shard, crowdHeader)
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
		size := crowdedSize + 4*r.Words()
		if r.Second != r.Ref {
			size += RefSize
		}
		if r.Side != 0 {
			size += sideSize
		}
		if b, err = run.Record(Crowds, shard, size); err != nil {
			return err
		}
		putCrowded(b, r)
	}
	return nil
}

// CrowdReader reads crowds one after the other.
type CrowdReader struct {
	Packed []byte

	key       uint64
	hasSides  bool
	Pairs     int64
	Documents int
}

// Next goes on to the next crowd. The documents of the current one must have been read.
func (c *CrowdReader) Next() bool {
	if len(c.Packed) == 0 {
		return false
	}
	c.key = binary.LittleEndian.Uint64(c.Packed)
	c.Pairs = int64(binary.LittleEndian.Uint64(c.Packed[8:]))
	documents := binary.LittleEndian.Uint32(c.Packed[16:])
	c.Documents, c.hasSides = int(documents&^hasSides), documents&hasSides != 0
	c.Packed = c.Packed[crowdHeader:]
	return true
}

// Record reads the next document of the crowd.
func (c *CrowdReader) Record(r *candidates.Record) {
	r.Key = c.key
	c.Packed = getCrowded(c.Packed, r, c.hasSides)
}
