package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// popcnt writes the kernel for one word after the other.
func popcnt() {
	const unrolled = 4
	TEXT("hammingSSE42", NOSPLIT, "func(distances []uint16, query, table []uint64)")
	Doc("hammingSSE42 is hammingGo for one word and one row or more.")
	Pragma("noescape")
	distances := Load(Param("distances").Base(), GP64())
	end := Load(Param("distances").Len(), GP64())
	LEAQ(Mem{Base: distances, Index: end, Scale: 2}, end)
	query := Load(Param("query").Base(), GP64())
	words := Load(Param("query").Len(), GP64())
	row := Load(Param("table").Base(), GP64())
	many := GP64()
	MOVQ(words, many)
	SUBQ(Imm(unrolled), many)
	k, sum := GP64(), GP64()
	count := func(i int, sum reg.GPVirtual, first bool) {
		x := GP64()
		MOVQ(Mem{Base: row, Index: k, Scale: 8, Disp: 8 * i}, x)
		XORQ(Mem{Base: query, Index: k, Scale: 8, Disp: 8 * i}, x)
		if first {
			POPCNTQ(x, sum)
			return
		}
		POPCNTQ(x, x)
		ADDQ(x, sum)
	}

	Label("row")
	XORQ(k, k)
	XORQ(sum, sum)
	CMPQ(k, many)
	JG(LabelRef("few"))
	Label("words")
	sums := [2]reg.GPVirtual{GP64(), GP64()}
	for i := range unrolled {
		count(i, sums[i%2], i < 2)
	}
	ADDQ(sums[1], sums[0])
	ADDQ(sums[0], sum)
	ADDQ(Imm(unrolled), k)
	CMPQ(k, many)
	JLE(LabelRef("words"))
	Label("few")
	CMPQ(k, words)
	JE(LabelRef("counted"))
	Label("word")
	count(0, sum, false)
	INCQ(k)
	CMPQ(k, words)
	JNE(LabelRef("word"))
	Label("counted")
	MOVW(sum.As16(), Mem{Base: distances})
	LEAQ(Mem{Base: row, Index: words, Scale: 8}, row)
	ADDQ(Imm(2), distances)
	CMPQ(distances, end)
	JNE(LabelRef("row"))
	RET()
}
