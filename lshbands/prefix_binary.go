package lshbands

import (
	"errors"
	"math"
	"math/bits"
	"unsafe"
)

// Bytes returns the memory of the counter: lines of 64 bytes in the byte order of the machine. Workers on
// machines of the same kind can make a counter from it. It may be written to.
func (c *Counter) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(c.lines))), lineSize*len(c.lines))
}

// CounterOf returns an empty counter of the given size in bytes. The caller copies the bytes of another
// counter into it.
func CounterOf(size int64) (*Counter, error) {
	n := size / lineSize
	if n < leastLines || n > mostLines || bits.OnesCount64(uint64(n)) != 1 || size != n*lineSize {
		return nil, errors.New("counts of shingles are damaged")
	}
	return &Counter{lines: make([]line, n)}, nil
}

// AddCounts adds the counts in from to those in to. Both are the bytes of the same part of two counters for
// the same number of shingles. A part is a number of whole lines.
func AddCounts(to, from []byte) {
	const one = 0x5555555555555555
	a, b := linesOf(to), linesOf(from)
	for i := range b {
		to, from := &a[i], &b[i]
		for w, y := range from.cells {
			x := to.cells[w]
			several := (x|y)>>1&one | x&y&one
			to.cells[w] = several<<1 | (x|y)&one&^several
		}
		for w, n := range from.counts {
			to.counts[w] = uint16(min(uint32(to.counts[w])+uint32(n), math.MaxUint16))
		}
	}
}

func linesOf(b []byte) []line {
	return unsafe.Slice((*line)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/lineSize)
}
