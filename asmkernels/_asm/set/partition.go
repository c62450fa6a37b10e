package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// partitioning is what the partition kernels keep in registers.
//
// Every vector is rearranged so that the elements that stay come first, and then stored twice: where the next ones
// stay, which never overtakes the reading, and so that it ends before the high ones so far. What is superfluous in
// either place is overwritten later.
type partitioning struct {
	lanes   int
	at, end reg.Register // where to read
	low     reg.Register // where the next elements stay
	high    reg.Register // a vector before the first high element
	bit     reg.Register
}

func beginPartition(name string, lanes int) partitioning {
	Doc(
		"partition"+name+" moves the elements of list where the bit of the given number is 0 to its",
		"beginning and the others to the end of high, and returns how many the former are. High",
		fmt.Sprintf("has at least %d elements more than list. What precedes the others in it is overwritten.", lanes),
	)
	Pragma("noescape")
	p := partitioning{
		lanes: lanes,
		at:    Load(Param("list").Base(), GP64()),
		end:   Load(Param("list").Len(), GP64()),
		low:   GP64(),
		high:  Load(Param("high").Base(), GP64()),
		bit:   Load(Param("bit"), GP64()),
	}
	LEAQ(Mem{Base: p.at, Index: p.end, Scale: 8}, p.end)
	MOVQ(p.at, p.low)
	high := Load(Param("high").Len(), GP64())
	LEAQ(Mem{Base: p.high, Index: high, Scale: 8, Disp: -8 * lanes}, p.high)
	return p
}

// vectors writes the loop over whole vectors.
func (p partitioning) vectors(body func()) {
	last := GP64()
	LEAQ(Mem{Base: p.end, Disp: -8 * p.lanes}, last)
	CMPQ(p.at, last)
	JA(LabelRef("rest"))
	Label("vector")
	body()
	ADDQ(U32(uint32(8*p.lanes)), p.at)
	CMPQ(p.at, last)
	JBE(LabelRef("vector"))
	Label("rest")
}

// advance moves the places to write behind a vector in which lows elements stay.
func (p partitioning) advance(lows reg.Register) {
	LEAQ(Mem{Base: p.low, Index: lows, Scale: 8}, p.low)
	LEAQ(Mem{Base: p.high, Index: lows, Scale: 8, Disp: -8 * p.lanes}, p.high)
}

// finish writes the loop over the elements that do not fill a vector, and the end.
func (p partitioning) finish() {
	CMPQ(p.at, p.end)
	JE(LabelRef("done"))
	ADDQ(U32(uint32(8*(p.lanes-1))), p.high)
	p.lanes = 1
	Label("element")
	x, isLow := GP64(), GP64()
	MOVQ(Mem{Base: p.at}, x)
	MOVQ(x, Mem{Base: p.low})
	MOVQ(x, Mem{Base: p.high})
	SHRXQ(p.bit, x, isLow)
	NOTQ(isLow)
	ANDQ(Imm(1), isLow)
	p.advance(isLow)
	ADDQ(Imm(8), p.at)
	CMPQ(p.at, p.end)
	JNE(LabelRef("element"))
	Label("done")
	SUBQ(Load(Param("list").Base(), GP64()), p.low)
	SHRQ(Imm(3), p.low)
	Store(p.low, Return("low"))
	VZEROUPPER()
	RET()
}
