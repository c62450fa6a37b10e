// Command minhash writes the MinHash kernels.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tier is a kind of vectors and what the instruction sets call differently.
type tier struct {
	name   string
	lanes  int // components in a vector
	most   int // vectors whose minima and multipliers have room in registers
	vector func() reg.VecVirtual

	ones func(v Op)

	// move loads or stores a whole vector, moveLast the first lanes of one, as many as prepareLast was given.
	move        func(from, to Op)
	prepareLast func(components reg.GPVirtual)
	loadLast    func(from, to Op)
	storeLast   func(from, to Op)
}

func main() {
	ConstraintExpr("amd64,!purego")
	avx512().kernel()
	avx2().kernel()
	Generate()
}

func avx512() tier {
	mask := K()
	return tier{
		name:   "AVX512",
		lanes:  16,
		most:   8,
		vector: ZMM,
		ones:   func(v Op) { VPTERNLOGD(U8(0xff), v, v, v) },
		move:   func(from, to Op) { VMOVDQU32(from, to) },
		prepareLast: func(components reg.GPVirtual) {
			bits := GP32()
			MOVL(U32(0xffff), bits)
			BZHIL(components.As32(), bits, bits)
			KMOVW(bits, mask)
		},
		loadLast:  func(from, to Op) { VMOVDQU32_Z(from, mask, to) },
		storeLast: func(from, to Op) { VMOVDQU32(from, mask, to) },
	}
}

func avx2() tier {
	// A window of this table that begins n lanes before its middle selects the first n lanes.
	const lanes = 8
	masks := GLOBL("minHashMasks", RODATA|NOPTR)
	for i := range 2 * lanes {
		DATA(4*i, U32(uint32(0xffffffff)*uint32(1-i/lanes)))
	}
	address := GP64()
	return tier{
		name:   "AVX2",
		lanes:  lanes,
		most:   6,
		vector: YMM,
		ones:   func(v Op) { VPCMPEQD(v, v, v) },
		move:   func(from, to Op) { VMOVDQU(from, to) },
		prepareLast: func(components reg.GPVirtual) {
			LEAQ(masks.Offset(4*lanes), address)
			SHLQ(Imm(2), components)
			SUBQ(components, address)
		},
		loadLast: func(from, to Op) {
			mask := YMM()
			VMOVDQU(Mem{Base: address}, mask)
			VPMASKMOVD(from, mask, to)
		},
		storeLast: func(from, to Op) {
			mask := YMM()
			VMOVDQU(Mem{Base: address}, mask)
			VPMASKMOVD(from, mask, to)
		},
	}
}

// kernel writes the function. It leads the whole set past as many components as
// have room in registers, then past the next ones.
func (t tier) kernel() {
	TEXT("minHash"+t.name, NOSPLIT, "func(signature, multipliers []uint32, set []uint64)")
	Doc("minHash" + t.name + " is minHashGo.")
	Pragma("noescape")
	signature := Load(Param("signature").Base(), GP64())
	left := Load(Param("signature").Len(), GP64())
	multipliers := Load(Param("multipliers").Base(), GP64())
	set := Load(Param("set").Base(), GP64())
	end := Load(Param("set").Len(), GP64())
	LEAQ(Mem{Base: set, Index: end, Scale: 8}, end)
	one := t.vector()
	t.ones(one)
	VPSRLD(Imm(31), one, one)

	Label("pass")
	TESTQ(left, left)
	JE(LabelRef("done"))
	// The last of n vectors holds what remains of left, or is full.
	inLast := GP64()
	for n := 1; n <= t.most; n++ {
		if n > 1 {
			Label(fmt.Sprintf("try%d", n))
		}
		MOVQ(left, inLast)
		if n > 1 {
			SUBQ(U32(uint32((n-1)*t.lanes)), inLast)
		}
		CMPQ(inLast, U32(uint32(t.lanes)))
		if n < t.most {
			JBE(LabelRef(fmt.Sprintf("vectors%d", n)))
		}
	}
	full := GP64()
	MOVQ(U32(uint32(t.lanes)), full)
	CMOVQHI(full, inLast)
	for n := t.most; n > 0; n-- {
		Label(fmt.Sprintf("vectors%d", n))
		t.prepareLast(inLast)
		t.pass(n, signature, multipliers, set, end, one)
		if n < t.most {
			JMP(LabelRef("done"))
			continue
		}
		size := U32(uint32(n * t.lanes))
		ADDQ(U32(uint32(n*t.lanes*4)), signature)
		ADDQ(U32(uint32(n*t.lanes*4)), multipliers)
		SUBQ(size, left)
		JA(LabelRef("pass"))
		JMP(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// pass writes the loop over the set for n vectors of components.
//
// With few vectors, one minimum would wait for the one before. Then both halves of the set are led past minima of their
// own, side by side. If the halves are uneven, both contain the element in the middle.
func (t tier) pass(n int, signature, multipliers, set, end reg.Register, one reg.VecVirtual) {
	at := func(base reg.Register, i int) Mem { return Mem{Base: base, Disp: i * t.lanes * 4} }
	halves := 1
	if 2*n <= t.most {
		halves = 2
	}
	factors, minima := make([]reg.VecVirtual, n), make([][]reg.VecVirtual, n)
	for i := range n {
		load := t.move
		if i == n-1 {
			load = t.loadLast
		}
		factors[i] = t.vector()
		load(at(multipliers, i), factors[i])
		for range halves {
			minimum := t.vector()
			t.ones(minimum)
			minima[i] = append(minima[i], minimum)
		}
	}
	elements := []reg.GPVirtual{GP64(), GP64()}
	MOVQ(set, elements[0])
	CMPQ(set, end)
	JE(LabelRef(fmt.Sprintf("store%d", n)))
	if halves == 2 {
		length := GP64()
		MOVQ(end, length)
		SUBQ(set, length)
		SHRQ(Imm(4), length)
		LEAQ(Mem{Base: set, Index: length, Scale: 8}, elements[1])
	}

	Label(fmt.Sprintf("loop%d", n))
	for half := range halves {
		x := t.vector()
		VPBROADCASTD(Mem{Base: elements[half], Disp: 2}, x) // the upper 32 of 48 bits
		VPMAXUD(one, x, x)
		for i := range n {
			product := t.vector()
			VPMULLD(factors[i], x, product)
			VPMINUD(product, minima[i][half], minima[i][half])
		}
		ADDQ(Imm(8), elements[half])
	}
	CMPQ(elements[halves-1], end)
	JNE(LabelRef(fmt.Sprintf("loop%d", n)))

	Label(fmt.Sprintf("store%d", n))
	for i := range n {
		store := t.move
		if i == n-1 {
			store = t.storeLast
		}
		if halves == 2 {
			VPMINUD(minima[i][1], minima[i][0], minima[i][0])
		}
		store(minima[i][0], at(signature, i))
	}
}
