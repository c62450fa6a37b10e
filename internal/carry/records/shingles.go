package records

import (
	"encoding/binary"
	"errors"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/ground/runfile"
)

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
