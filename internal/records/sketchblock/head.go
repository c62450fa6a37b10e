package sketchblock

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// MayLack returns how many shingles of a document of n shingles another one may lack, and still be similar at a
// threshold: its similarity is at most the share of the n shingles that it has. A similarity is a quotient that is
// rounded, so the result is rounded up where both might differ.
func MayLack(n int, threshold float64) int {
	const rounding = 1e-9
	return int(math.Floor(float64(n) * (1 - threshold + rounding)))
}

const (
	// HeadBits is how many leading bits of a hash a head has.
	HeadBits     = 24
	headHashSize = HeadBits / 8
	// headSpare is how many hashes a head has beyond the ones that a document may lack, in addition to a fifth of
	// these: some will be in other documents by chance.
	headSpare = 4
)

func headLength(n int, threshold float64) int {
	lacks := MayLack(n, threshold)
	return min(n, lacks+lacks/5+headSpare)
}

// Heads returns the heads of the sets of the documents that a builder has collected, which are sets of all hashes. Most
// documents that are similar to no other one show it by the first of their hashes: another document lacks more of these
// than it may. So a later job need not read the sets. Has says which documents have a head, given the first words of
// their digests.
//
// Heads are the threshold, 8 bytes, a bit for each document that has a head, and the heads: the leading 24 bits of the
// first hashes, 3 bytes each.
func (b *Builder) Heads(threshold float64, has func(ref docref.Ref, digest uint64) bool) []byte {
	packed := binary.LittleEndian.AppendUint64(nil, math.Float64bits(threshold))
	bits := len(packed)
	packed = append(packed, make([]byte, (b.n+7)/8)...)
	sets := b.sets
	for i := range b.n {
		stored := int(b.stored[i])
		set := sets[:HashSize*stored]
		sets = sets[HashSize*stored:]
		if !has(docref.Ref(b.refs[i]), binary.LittleEndian.Uint64(b.digests[digest.Size*i:])) {
			continue
		}
		packed[bits+i/8] |= 1 << (i % 8)
		for ; len(set) > HashSize*(stored-headLength(stored, threshold)); set = set[HashSize:] {
			packed = append(packed, set[HashSize-headHashSize:HashSize]...)
		}
	}
	return packed
}

// Head is the head of a set. One that is missing is empty, and rules nothing out.
type Head struct{ hashes []byte }

func (h Head) Len() int { return len(h.hashes) / headHashSize }

// LeadingBits returns the leading bits of a hash of the set, given its number, which is below Len.
func (h Head) LeadingBits(i int) uint64 {
	hash := h.hashes[headHashSize*i:]
	return uint64(hash[0]) | uint64(hash[1])<<8 | uint64(hash[2])<<16
}

// Lacks reports whether more hashes of the head than a number are not in a table of bits. A hash is at the bit that its
// leading bits count, without the last few of these: shift.
func (h Head) Lacks(table []uint64, shift, number int) bool {
	const mask = 1<<HeadBits - 1
	hashes := h.hashes
	has := func(lead uint64) int {
		at := lead & mask >> (shift & 63)
		return int(table[at>>6] >> (at & 63) & 1)
	}
	// all look-ups of four hashes are under way together
	for ; len(hashes) >= 4*headHashSize; hashes = hashes[4*headHashSize:] {
		first, last := binary.LittleEndian.Uint64(hashes), binary.LittleEndian.Uint64(hashes[4:])
		if number -= 4 - has(first) - has(first>>24) - has(last>>16) - has(last>>40); number < 0 {
			return true
		}
	}
	for ; len(hashes) > 0; hashes = hashes[headHashSize:] {
		if number -= 1 - has(uint64(hashes[0])|uint64(hashes[1])<<8|uint64(hashes[2])<<16); number < 0 {
			return true
		}
	}
	return false
}

// Heads appends the heads of the sets of a block, in the order of its documents. They alias packed.
func (b *Block) Heads(heads []Head, packed []byte) ([]Head, error) {
	damaged := errors.New("heads of a sketch block are damaged")
	if len(packed) < 8+(b.n+7)/8 {
		return nil, damaged
	}
	threshold, bits := math.Float64frombits(binary.LittleEndian.Uint64(packed)), packed[8:]
	packed = bits[(b.n+7)/8:]
	heads = slices.Grow(heads, b.n)
	for i := range b.n {
		size := 0
		if bits[i/8]>>(i%8)&1 != 0 {
			size = headHashSize * headLength(b.Stored(i), threshold)
		}
		if size < 0 || len(packed) < size {
			return nil, damaged
		}
		heads = append(heads, Head{packed[:size]})
		packed = packed[size:]
	}
	if len(packed) > 0 {
		return nil, damaged
	}
	return heads, nil
}

// numbers is a packed list of whole numbers, which lie near a straight line. Refs of lines, and ends of ids, do: number
// i is base + slope*i and a distance, which takes a byte or two. Any of them can be read without the others.
//
// The list is the base and the slope, 8 bytes each, the width of a distance in bytes, 0 to 8, as a byte, and the
// distances. More than 8 bytes must follow. Sums are modulo 2^64.
type numbers struct {
	base, slope, mask uint64
	width             int
	distances         []byte // and what follows
}

// numbersHeader is the size of base, slope and width in bytes.
const numbersHeader = 17

func appendNumbers(b []byte, list []uint64) []byte {
	var base, slope uint64
	if last := len(list) - 1; last > 0 && list[last] > list[0] {
		slope = (list[last] - list[0]) / uint64(last)
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64) // distances from the line through the first number
	for i, number := range list {
		distance := int64(number - list[0] - slope*uint64(i))
		least, most = min(least, distance), max(most, distance)
	}
	width := 0
	if len(list) > 0 {
		base, width = list[0]+uint64(least), (bits.Len64(uint64(most)-uint64(least))+7)/8
	}
	b = binary.LittleEndian.AppendUint64(b, base)
	b = binary.LittleEndian.AppendUint64(b, slope)
	b = append(b, byte(width))
	var distance [8]byte
	for i, number := range list {
		binary.LittleEndian.PutUint64(distance[:], number-base-slope*uint64(i))
		b = append(b, distance[:width]...)
	}
	return b
}

// takeNumbers reads a packed list of n numbers, and returns the bytes behind it. The list aliases all of b.
func takeNumbers(b []byte, n int) (list numbers, rest []byte, err error) {
	if len(b) < numbersHeader || b[numbersHeader-1] > 8 {
		return numbers{}, nil, errors.New("a list of numbers is damaged")
	}
	list = numbers{
		base:      binary.LittleEndian.Uint64(b),
		slope:     binary.LittleEndian.Uint64(b[8:]),
		width:     int(b[16]),
		distances: b[numbersHeader:],
	}
	list.mask = 1<<(8*list.width) - 1
	if n < 0 || n > 0 && len(list.distances) < list.width*n+8 {
		return numbers{}, nil, errors.New("a list of numbers is too short")
	}
	return list, list.distances[list.width*n:], nil
}

func (l *numbers) at(i int) uint64 {
	return l.base + l.slope*uint64(i) + binary.LittleEndian.Uint64(l.distances[l.width*i:])&l.mask
}
