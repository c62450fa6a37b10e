// Command hamming writes the kernels that count the bits in which fingerprints differ.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tier is a kind of vectors of 64-bit numbers. A group is as many rows of the table as a vector has lanes.
type tier struct {
	name    string
	lanes   int
	vector  func() reg.VecVirtual
	prepare func()

	// masked sets the number of words that differing loads from there on.
	masked func(words reg.Register)

	// query returns a vector full of copies of the first words at a place, or, if words is 0, as many as masked says.
	query func(at Mem, words int) reg.VecVirtual

	// differing sets to to the bits in which the words at a place and the query
	// differ: a whole vector, or as many as masked says.
	differing func(at Mem, query, to reg.VecVirtual, whole bool)

	// ones adds the bits of v that are set to sum, totals leaves their number in each lane of sum.
	ones   func(v, sum reg.VecVirtual, first bool)
	totals func(sum reg.VecVirtual)

	// add returns the sums of pairs of lanes that are apart lanes from each
	// other, in a and in b. order gives the row of each lane of a and b.
	add func(a, b reg.VecVirtual, apart int) reg.VecVirtual

	// store stores the lanes as 16-bit numbers, the one of row 0 first.
	store func(v reg.VecVirtual, order []int, to Mem)
}

func main() {
	ConstraintExpr("amd64,!purego")
	popcnt()
	for _, t := range []tier{avx512(), avx2()} {
		t.write()
	}
	Generate()
}

const mostWords = 16

func (t tier) write() {
	TEXT("hamming"+t.name, NOSPLIT, "func(distances []uint16, query, table []uint64)")
	Doc(fmt.Sprintf("hamming%s is hammingGo for up to %d words and for %d rows or more.", t.name, mostWords, t.lanes))
	Pragma("noescape")
	words := Load(Param("query").Len(), GP64())
	t.prepare()
	// Rows that fill vectors come without masks, then those by the number of vectors that they take.
	var sizes []int
	for size := 1; size < t.lanes; size *= 2 {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		CMPQ(words, Imm(uint64(size)))
		JE(LabelRef(fmt.Sprintf("words%d", size)))
	}
	most := mostWords / t.lanes
	for vectors := 1; vectors < most; vectors++ {
		CMPQ(words, Imm(uint64(vectors*t.lanes)))
		JBE(LabelRef(fmt.Sprintf("vectors%d", vectors)))
	}
	for vectors := most; vectors > 0; vectors-- {
		Label(fmt.Sprintf("vectors%d", vectors))
		t.long(vectors, words)
	}
	for _, size := range sizes {
		Label(fmt.Sprintf("words%d", size))
		t.short(size)
	}
}

// groups writes the loop over groups of rows of the given size in bytes. The last group
// may overlap with the one before.
func (t tier) groups(pitch reg.Register, body func(rows Mem) (distances reg.VecVirtual, order []int)) {
	table := Load(Param("table").Base(), GP64())
	distances := Load(Param("distances").Base(), GP64())
	last := Load(Param("distances").Len(), GP64())
	SUBQ(Imm(uint64(t.lanes)), last)
	i := GP64()
	XORQ(i, i)
	label := fmt.Sprintf("group%d", loops)
	loops++
	Label(label)
	row := GP64()
	MOVQ(i, row)
	IMULQ(pitch, row)
	ADDQ(table, row)
	v, order := body(Mem{Base: row})
	t.store(v, order, Mem{Base: distances, Index: i, Scale: 2})
	CMPQ(i, last)
	JE(LabelRef(label + "done"))
	ADDQ(Imm(uint64(t.lanes)), i)
	CMPQ(i, last)
	CMOVQGT(last, i)
	JMP(LabelRef(label))
	Label(label + "done")
	VZEROUPPER()
	RET()
}

var loops int

// short writes the loop over rows of size words. A vector holds some rows.
func (t tier) short(size int) {
	pitch := GP64()
	MOVQ(U32(uint32(8*size)), pitch)
	query := t.query(Mem{Base: Load(Param("query").Base(), GP64())}, size)
	t.groups(pitch, func(rows Mem) (reg.VecVirtual, []int) {
		var list []sum
		for i := range size {
			v, s := t.vector(), sum{v: t.vector()}
			for lane := range t.lanes {
				s.order = append(s.order, (i*t.lanes+lane)/size)
			}
			t.differing(rows.Offset(i*8*t.lanes), query, v, true)
			t.ones(v, s.v, true)
			t.totals(s.v)
			list = append(list, s)
		}
		return t.reduce(list, size)
	})
}

// long writes the loop over rows that take so many vectors, the last of which they need not fill.
func (t tier) long(vectors int, words reg.Register) {
	inLast, pitch := GP64(), GP64()
	MOVQ(words, inLast)
	SUBQ(U32(uint32((vectors-1)*t.lanes)), inLast)
	t.masked(inLast)
	MOVQ(words, pitch)
	SHLQ(Imm(3), pitch)
	var queries []reg.VecVirtual
	from := Load(Param("query").Base(), GP64())
	for i := range vectors {
		length := t.lanes
		if i == vectors-1 {
			length = 0
		}
		queries = append(queries, t.query(Mem{Base: from, Disp: 8 * i * t.lanes}, length))
	}
	t.groups(pitch, func(rows Mem) (reg.VecVirtual, []int) {
		var list []sum
		row := rows.Base
		for r := range t.lanes {
			if r > 0 {
				next := GP64()
				LEAQ(Mem{Base: row, Index: pitch, Scale: 1}, next)
				row = next
			}
			s := sum{v: t.vector()}
			for range t.lanes {
				s.order = append(s.order, r)
			}
			for i, query := range queries {
				v := t.vector()
				t.differing(Mem{Base: row, Disp: 8 * i * t.lanes}, query, v, i < vectors-1)
				t.ones(v, s.v, i == 0)
			}
			t.totals(s.v)
			list = append(list, s)
		}
		return t.reduce(list, t.lanes)
	})
}

// A sum is a vector of sums, and the row that each lane belongs to.
type sum struct {
	v     reg.VecVirtual
	order []int
}

// reduce adds up the lanes of rows, which are size lanes next to each other.
func (t tier) reduce(list []sum, size int) (reg.VecVirtual, []int) {
	for apart := 1; apart < size; apart *= 2 {
		var half []sum
		for i := 0; i < len(list); i += 2 {
			a, b := list[i], list[i+1]
			half = append(half, sum{t.add(a.v, b.v, apart), added(a.order, b.order, apart)})
		}
		list = half
	}
	return list[0].v, list[0].order
}

// added returns the rows of the lanes that tier.add returns: lanes side by side are taken in turns of a and b, halves
// or quarters of vectors one after the other.
func added(a, b []int, apart int) (order []int) {
	if apart == 1 {
		for i := 0; i < len(a); i += 2 {
			order = append(order, a[i], b[i])
		}
		return order
	}
	for _, rows := range [][]int{a, b} {
		for i := 0; i < len(rows); i += 4 {
			order = append(order, rows[i:i+2]...)
		}
	}
	return order
}
