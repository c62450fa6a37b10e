package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// boundsSSE42 writes markBitmaps for one fingerprint after the other.
func boundsSSE42() {
	TEXT("markBitmapsSSE42", NOSPLIT, "func(marks []uint8, query *[12]uint64, blocks []uint64)")
	Doc("markBitmapsSSE42 is markBitmapsGo for one block or more.")
	Pragma("noescape")
	query := Load(Param("query"), GP64())
	marks := Load(Param("marks").Base(), GP64())
	blocks := Load(Param("blocks").Base(), GP64())
	end := Load(Param("blocks").Len(), GP64())
	LEAQ(Mem{Base: blocks, Index: end, Scale: 8}, end)
	of := func(i int) Mem { return Mem{Base: query, Disp: 8 * i} }
	var words [bitmapWords]reg.GPVirtual
	for i := range words {
		words[i] = GP64()
		MOVQ(of(i), words[i])
	}

	Label("block")
	below := GP64()
	for lane := blockLanes - 1; lane >= 0; lane-- {
		row := func(i int) Mem { return Mem{Base: blocks, Disp: 8 * (i*blockLanes + lane)} }
		bound, x := GP64(), GP64()
		MOVQ(row(inCollisions), bound)
		CMPQ(bound, of(inCollisions))
		CMOVQHI(of(inCollisions), bound)
		for i, word := range words {
			MOVQ(row(i), x)
			ANDQ(word, x)
			POPCNTQ(x, x)
			ADDQ(x, bound)
		}
		MOVQ(row(inSize), x)
		ADDQ(of(inSize), x)
		IMULQ(of(inSlope), x)
		SHRQ(Imm(16), x)
		CMPQ(x, of(inMost))
		CMOVQHI(of(inMost), x)
		CMPQ(bound, x)
		if lane == blockLanes-1 {
			SBBQ(below, below)
		} else {
			ADCQ(below, below)
		}
	}
	NOTQ(below)
	MOVB(below.As8(), Mem{Base: marks})
	INCQ(marks)
	ADDQ(U32(8*blockWords), blocks)
	CMPQ(blocks, end)
	JNE(LabelRef("block"))
	RET()
}
