package output

import (
	"math"
	"strconv"
	"sync"
)

// number is a field of a row that has a number.
type number struct {
	field string // its name with the comma, the quotes and the colon of JSON
	value float64
}

// appendNumbers appends fields as [AppendFloat] writes numbers. It is for rows of documents that are much alike: the
// numbers of such rows repeat, and to look one up takes less time than to find its digits again.
func appendNumbers(b []byte, numbers ...number) []byte {
	f := known.Get().(*figures)
	for _, n := range numbers {
		b = f.append(append(b, n.field...), n.value)
	}
	known.Put(f)
	return b
}

// known are the figures that tasks have to hand.
var known = sync.Pool{New: func() any { return new(figures) }}

// figures holds some numbers as rows have them, each at a place that its bits tell.
type figures [1 << figuresBits]figure

const figuresBits = 10

// figure is the bits of a number and its text, which is empty if there is no number yet.
type figure struct {
	bits   uint64
	length uint8
	text   [23]byte
}

// append appends a number and holds it in the place of another one.
func (f *figures) append(b []byte, x float64) []byte {
	const spread = 0x9e3779b97f4a7c15 // a bit that differs makes the highest bits of the product differ
	bits := math.Float64bits(x)
	held := &f[bits*spread>>(64-figuresBits)]
	if held.bits == bits && held.length > 0 {
		return append(b, held.text[:held.length]...)
	}
	start := len(b)
	b = AppendFloat(b, x)
	if text := b[start:]; len(text) <= len(held.text) {
		held.bits, held.length = bits, uint8(copy(held.text[:], text))
	}
	return b
}

// AppendFloat appends x, which is finite, in as few digits as tell it from its
// neighbours.
func AppendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }
