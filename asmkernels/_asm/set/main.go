// Command set writes the kernels that sort elements and remove duplicates.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tier is a kind of vectors of 64-bit numbers and what the instruction sets call differently. Numbers of lanes are in
// binary: a lane bit is one of their digits.
type tier struct {
	name     string
	laneBits int
	sizes    []size
	vector   func() reg.VecVirtual

	prepare  func(count reg.Register) // sets registers that sortSmall needs all the time
	load     func(from Mem, first int) reg.VecVirtual
	smaller  func(a, b reg.VecVirtual) reg.VecVirtual
	larger   func(a, b reg.VecVirtual) reg.VecVirtual
	exchange func(lanes int, v reg.VecVirtual) reg.VecVirtual // lane i gets lane i^lanes

	// sorted returns the smaller of a and b in the lanes where the lane bit is 0 and the larger where it is 1.
	sorted func(a, b reg.VecVirtual, laneBit int) reg.VecVirtual

	// transpose exchanges digits of lane numbers with digits of vector numbers.
	transpose func(m *matrix)

	// store writes the distinct numbers of the sorted vectors to out and sets count to how many they are.
	store func(vectors []reg.VecVirtual, out, count reg.Register)

	partition func()
}

// A size is a number of vectors, 2 to the power of bits, and which digit of an element's place in its column block each
// lane bit is at first: 0 if it is the lowest after the lanes of the vector number.
type size struct {
	bits  int
	lanes []int
}

func main() {
	ConstraintExpr("amd64,!purego")
	for _, t := range []tier{avx512(), avx2()} {
		t.sortSmall()
		t.partition()
	}
	Generate()
}

// A matrix is the list in registers: vectors of lanes. Digit d of an element's place in the sorted list is a digit of
// the number of its lane or vector: number place[d], where the lane bits come first.
type matrix struct {
	tier
	vectors []reg.VecVirtual
	bits    int // digits of the vector number
	place   []int
}

// sortSmall writes a function for lists that have room in registers.
//
// It sorts the columns of the matrix, which takes no exchange of lanes, by Batcher's network (Sorting networks and
// their applications, 1968), and merges pairs of columns until there is one. Only the steps between columns exchange
// lanes.
func (t tier) sortSmall() {
	largest := 1 << (t.sizes[len(t.sizes)-1].bits + t.laneBits)
	TEXT("sortSmall"+t.name, NOSPLIT, "func(out, list []uint64) (size int)")
	Doc(
		fmt.Sprintf("sortSmall%s writes the distinct elements of list, 1 to %d, to out in ascending order", t.name,
			largest),
		"and returns how many they are. It overwrites some elements behind them, as many as a",
		"vector has lanes and one.",
	)
	Pragma("noescape")
	out := Load(Param("out").Base(), GP64())
	list := Load(Param("list").Base(), GP64())
	count := Load(Param("list").Len(), GP64())
	t.prepare(count)
	for _, s := range t.sizes[:len(t.sizes)-1] {
		CMPQ(count, U32(uint32(1)<<(s.bits+t.laneBits)))
		JBE(LabelRef(fmt.Sprintf("vectors%d", 1<<s.bits)))
	}
	for i := range t.sizes {
		s := t.sizes[len(t.sizes)-1-i]
		Label(fmt.Sprintf("vectors%d", 1<<s.bits))
		m := matrix{tier: t, bits: s.bits, place: make([]int, s.bits+t.laneBits)}
		for d := range s.bits {
			m.place[d] = t.laneBits + d
		}
		for lane, d := range s.lanes {
			m.place[s.bits+d] = lane
		}
		for i := range 1 << s.bits {
			m.vectors = append(m.vectors, t.load(Mem{Base: list, Disp: 8 * i << t.laneBits}, i<<t.laneBits))
		}
		m.sortColumns()
		for columns := range t.laneBits {
			m.mergeColumns(columns)
		}
		t.transpose(&m)
		distinct := GP64()
		t.store(m.inOrder(), out, distinct)
		// What fills the matrix up to its size counts as one more element.
		CMPQ(count, U32(uint32(1)<<(s.bits+t.laneBits)))
		SBBQ(Imm(0), distinct)
		Store(distinct, Return("size"))
		VZEROUPPER()
		RET()
	}
}

// compare sorts two vectors lane by lane.
func (m *matrix) compare(i, j int) {
	a, b := m.vectors[i], m.vectors[j]
	m.vectors[i], m.vectors[j] = m.smaller(a, b), m.larger(a, b)
}

// sortColumns sorts every lane.
func (m *matrix) sortColumns() {
	n := len(m.vectors)
	for p := 1; p < n; p *= 2 {
		for k := p; k > 0; k /= 2 {
			for j := k % p; j+k < n; j += 2 * k {
				for i := range min(k, n-j-k) {
					if (i+j)/(2*p) == (i+j+k)/(2*p) {
						m.compare(i+j, i+j+k)
					}
				}
			}
		}
	}
}

// mergeColumns merges pairs of sorted groups of 2 to the power of columns lanes.
func (m *matrix) mergeColumns(columns int) {
	// An element is compared with that at its place in the other group, counted from the end.
	flip := 0
	for d := range columns + 1 {
		flip |= 1 << m.place[m.bits+d]
	}
	bit := m.place[m.bits+columns]
	n := len(m.vectors)
	for i := range n / 2 {
		a, b := m.vectors[i], m.vectors[n-1-i]
		flippedA, flippedB := m.exchange(flip, a), m.exchange(flip, b)
		m.vectors[i] = m.sorted(a, flippedB, bit)
		m.vectors[n-1-i] = m.sorted(b, flippedA, bit)
	}
	for d := columns - 1; d >= 0; d-- {
		bit := m.place[m.bits+d]
		for i, v := range m.vectors {
			m.vectors[i] = m.sorted(v, m.exchange(1<<bit, v), bit)
		}
	}
	for distance := n / 2; distance > 0; distance /= 2 {
		for i := range n {
			if i&distance == 0 {
				m.compare(i, i+distance)
			}
		}
	}
}

// digitAt returns the digit of an element's place that is the lane or vector bit of the given number.
func (m *matrix) digitAt(bit int) int {
	for d, at := range m.place {
		if at == bit {
			return d
		}
	}
	panic("no such bit")
}

// pairs calls f with the vectors whose numbers differ in one bit only, and sets them to what it returns.
func (m *matrix) pairs(bit int, f func(a, b reg.VecVirtual) (low, high reg.VecVirtual)) {
	distance := 1 << (bit - m.laneBits)
	for i := range m.vectors {
		if i&distance == 0 {
			m.vectors[i], m.vectors[i+distance] = f(m.vectors[i], m.vectors[i+distance])
		}
	}
}

// interleave exchanges lane bit 0 with the vector bit where digit d is.
func (m *matrix) interleave(d int) {
	bit := m.place[d]
	m.pairs(bit, func(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = m.vector(), m.vector()
		VPUNPCKLQDQ(b, a, low)
		VPUNPCKHQDQ(b, a, high)
		return low, high
	})
	other := m.digitAt(0)
	m.place[d], m.place[other] = 0, bit
}

// inOrder returns the vectors in the order of their elements, once the lane bits are the lowest digits.
func (m *matrix) inOrder() []reg.VecVirtual {
	vectors := make([]reg.VecVirtual, len(m.vectors))
	for d := range m.laneBits {
		if m.place[d] != d {
			panic("the matrix is not transposed")
		}
	}
	for i := range vectors {
		from := 0
		for d := range m.bits {
			from |= i >> d & 1 << (m.place[m.laneBits+d] - m.laneBits)
		}
		vectors[i] = m.vectors[from]
	}
	return vectors
}
