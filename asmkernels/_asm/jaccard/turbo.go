package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turbo writes the loop of the article's JaccardTurbo.
func turbo() {
	TEXT("turboSSE42", NOSPLIT, "func(a, b []uint32, most int) (i, j, common int, aborted bool)")
	Doc("turboSSE42 is turboGo.")
	Pragma("noescape")
	a := Load(Param("a").Base(), GP64())
	b := Load(Param("b").Base(), GP64())
	lastI := Load(Param("a").Len(), GP64())
	lastJ := Load(Param("b").Len(), GP64())
	SUBQ(Imm(4), lastI)
	SUBQ(Imm(4), lastJ)
	most, err := Param("most").Resolve()
	if err != nil {
		panic(err)
	}
	i, j, common, different := GP64(), GP64(), GP64(), GP64()
	for _, r := range []reg.GPVirtual{i, j, common, different} {
		XORQ(r, r)
	}
	atI, atJ := Mem{Base: a, Index: i, Scale: 4}, Mem{Base: b, Index: j, Scale: 4}
	// PCMPESTRM takes the numbers of 16-bit words from these registers.
	MOVL(U32(8), reg.EAX)
	MOVL(U32(8), reg.EDX)

	Label("block")
	CMPQ(i, lastI)
	JG(LabelRef("done"))
	CMPQ(j, lastJ)
	JG(LabelRef("done"))
	v, w := XMM(), XMM()
	MOVOU(atI, v)
	MOVOU(atJ, w)
	const equalAnyWord = 1
	Instruction(&ir.Instruction{
		Opcode:   "PCMPESTRM",
		Operands: []Op{Imm(equalAnyWord), w, v},
		Inputs:   []Op{v, w, reg.EAX, reg.EDX},
		Outputs:  []Op{reg.X0},
		ISA:      []string{"SSE4.2"},
	})
	JCS(LabelRef("merge"))
	x, before, step := GP64(), GP64(), GP64()
	MOVL(atI.Offset(12), x.As32())
	CMPL(x.As32(), atJ.Offset(12))
	SBBQ(before, before) // all bits if x is below
	MOVQ(before, step)
	ANDQ(Imm(4), step)
	ADDQ(step, i)
	NOTQ(before)
	ANDQ(Imm(4), before)
	ADDQ(before, j)
	ADDQ(Imm(4), different)
	JMP(LabelRef("bound"))

	Label("merge")
	for range 4 {
		y, after, up, down := GP64(), GP64(), GP64(), GP64()
		XORQ(up, up)
		XORQ(down, down)
		MOVL(atI, x.As32())
		MOVL(atJ, y.As32())
		CMPL(x.As32(), y.As32())
		SETLS(up.As8())
		SETCC(down.As8())
		ADDQ(up, i)
		ADDQ(down, j)
		// Both are 1 for equal elements.
		MOVQ(up, after)
		ANDQ(down, after)
		ADDQ(after, common)
		XORQ(down, up)
		ADDQ(up, different)
	}

	Label("bound")
	CMPQ(different, most.Addr)
	JLE(LabelRef("block"))
	Label("done")
	aborted := GP8()
	CMPQ(different, most.Addr)
	SETGT(aborted)
	Store(i, Return("i"))
	Store(j, Return("j"))
	Store(common, Return("common"))
	Store(aborted, Return("aborted"))
	RET()
}
