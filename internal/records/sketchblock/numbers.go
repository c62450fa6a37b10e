package sketchblock

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

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
