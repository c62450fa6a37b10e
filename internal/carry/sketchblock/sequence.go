package sketchblock

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Sequence is what a block holds of a document where passages are looked for, in
// place of its set: the shingles in the order of the text. Entry i of each field
// belongs to shingle i.
type Sequence struct {
	// Shingles are the hashes, below 2^48.
	Shingles []uint64
	// Tokens are the numbers of the first tokens, ascending.
	Tokens []uint32
	// Starts and Ends are offsets in the text in bytes. Starts do not descend, and
	// none is behind its end.
	Starts, Ends []uint32
}

// AppendSequence appends s to b: the number of shingles, the hashes, then for each
// how many bytes it begins behind the one before, twice, plus 1 where its first
// token is not the next one, in which case the distance follows, and its length in
// bytes. All but the hashes are varints. Zeros follow to a whole number of hashes.
func AppendSequence(b []byte, s Sequence) []byte {
	// Most offsets and lengths take a byte each.
	const usual = HashSize + 3
	start := len(b)
	b = slices.Grow(b, usual*len(s.Shingles)+binary.MaxVarintLen64+HashSize)
	b = binary.AppendUvarint(b, uint64(len(s.Shingles)))
	b = AppendPacked(b, s.Shingles)
	at, token := uint32(0), uint32(math.MaxUint32) // of the one before
	for i := range s.Shingles {
		begins := uint64(s.Starts[i]-at) << 1
		if distance := s.Tokens[i] - token; distance == 1 {
			b = binary.AppendUvarint(b, begins)
		} else {
			b = binary.AppendUvarint(b, begins|1)
			b = binary.AppendUvarint(b, uint64(distance))
		}
		b = binary.AppendUvarint(b, uint64(s.Ends[i]-s.Starts[i]))
		at, token = s.Starts[i], s.Tokens[i]
	}
	for (len(b)-start)%HashSize > 0 {
		b = append(b, 0)
	}
	return b
}

// ParseSequence returns the sequence in b, in the memory of s.
func ParseSequence(s Sequence, b []byte) (Sequence, error) {
	damaged := errors.New("sequence of a document is damaged")
	failed := false
	next := func() uint32 {
		value, size := binary.Uvarint(b)
		if size <= 0 {
			failed = true
			return 0
		}
		b = b[size:]
		return uint32(value)
	}
	count, size := binary.Uvarint(b)
	if size <= 0 || count > uint64(len(b)/HashSize) {
		return Sequence{}, damaged
	}
	n := int(count)
	b = b[size:]
	if n*HashSize > len(b) {
		return Sequence{}, damaged
	}
	s.Shingles = AppendSet(slices.Grow(s.Shingles[:0], n), b[:n*HashSize])
	b = b[n*HashSize:]
	s.Tokens, s.Starts, s.Ends = slices.Grow(s.Tokens[:0], n), slices.Grow(s.Starts[:0], n), slices.Grow(s.Ends[:0], n)
	at, token := uint32(0), uint32(math.MaxUint32)
	for range n {
		begins, size := binary.Uvarint(b)
		if size <= 0 {
			return Sequence{}, damaged
		}
		b = b[size:]
		at += uint32(begins >> 1)
		if begins&1 == 0 {
			token++
		} else {
			token += next()
		}
		s.Tokens, s.Starts, s.Ends = append(s.Tokens, token), append(s.Starts, at), append(s.Ends, at+next())
	}
	if failed || len(b) >= HashSize {
		return Sequence{}, damaged
	}
	return s, nil
}
