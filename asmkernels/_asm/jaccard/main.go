// Command jaccard writes the kernels that count the common elements of sets.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A kernel compares sets of elements of size bytes block by block: as many
// elements as a vector has lanes, all with all.
type kernel struct {
	tier        string
	size, lanes int
	needs       string // what the documentation says of the arguments, if anything

	// matches returns how many elements of the block at a are in that at b.
	matches func(a, b Mem) reg.GPVirtual

	// hold takes up the count elements before end, fewer than a block, meet
	// compares them with the one at b, and met returns how many were met.
	hold func(end reg.Register, count reg.GPVirtual)
	meet func(b Mem)
	met  func() reg.GPVirtual
}

func main() {
	ConstraintExpr("amd64,!purego")
	sse42().write()
	sse42Pairs().write()
	for _, size := range []int{4, 8} {
		avx2(size).write()
		avx512(size).write()
		vp2intersect(size).write()
	}
	turbo()
	boundsSSE42()
	boundsAVX2().write()
	boundsAVX512().write()
	Generate()
}

// write writes the function. It takes the sets from both ends: one step would wait for what the step before it loads,
// so two at a time take no longer than one. The zones are what is left between the ends.
//
// In a step at the front, a block whose last element is not above that of the other is left behind, both if they are
// equal. Its elements cannot be anywhere else in the other zone. So what was counted has an element that was left
// behind, and what was not is within the zones.
func (k kernel) write() {
	element := fmt.Sprintf("uint%d", 8*k.size)
	name := fmt.Sprintf("intersect%d%s", 8*k.size, k.tier)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(a, b []%s, need int) (common int)", element))
	Doc(name + " is intersectMerging" + k.needs + ".")
	Pragma("noescape")
	var (
		a, aEnd = Load(Param("a").Base(), GP64()), Load(Param("a").Len(), GP64())
		b, bEnd = Load(Param("b").Base(), GP64()), Load(Param("b").Len(), GP64())
		need    = Load(Param("need"), GP64())
		block   = k.size * k.lanes
		scale   = uint8(k.size)
		shift   = Imm(uint64(k.size/4 + 1)) // the logarithm of the size

		// Lengths and numbers of elements are in bytes.
		common, zoneA, zoneB = GP64(), GP64(), GP64()
	)
	LEAQ(Mem{Base: a, Index: aEnd, Scale: scale}, aEnd)
	LEAQ(Mem{Base: b, Index: bEnd, Scale: scale}, bEnd)
	SHLQ(shift, need)
	XORQ(common, common)

	measure := func() {
		MOVQ(aEnd, zoneA)
		SUBQ(a, zoneA)
		MOVQ(bEnd, zoneB)
		SUBQ(b, zoneB)
	}
	// giveUp is for zones that are too short to reach the need.
	giveUp := func() {
		for _, zone := range []reg.Register{zoneA, zoneB} {
			most := GP64()
			LEAQ(Mem{Base: zone, Index: common, Scale: 1}, most)
			CMPQ(most, need)
			JLT(LabelRef("done"))
		}
	}
	unless := func(blocks int, label string) {
		for _, zone := range []reg.Register{zoneA, zoneB} {
			CMPQ(zone, U32(uint32(blocks*block)))
			JB(LabelRef(label))
		}
	}
	add := func(count reg.Register) { LEAQ(Mem{Base: common, Index: count, Scale: scale}, common) }
	front := func() {
		nextA, nextB := GP64(), GP64()
		LEAQ(Mem{Base: a, Disp: block}, nextA)
		LEAQ(Mem{Base: b, Disp: block}, nextB)
		count := k.matches(Mem{Base: a}, Mem{Base: b})
		k.compare(Mem{Base: a, Disp: block - k.size}, k.load(Mem{Base: b, Disp: block - k.size}))
		CMOVQCC(nextA, a)
		CMOVQLS(nextB, b)
		add(count)
	}
	back := func() {
		nextA, nextB := GP64(), GP64()
		LEAQ(Mem{Base: aEnd, Disp: -block}, nextA)
		LEAQ(Mem{Base: bEnd, Disp: -block}, nextB)
		count := k.matches(Mem{Base: nextA}, Mem{Base: nextB})
		k.compare(Mem{Base: aEnd, Disp: -block}, k.load(Mem{Base: bEnd, Disp: -block}))
		CMOVQLS(nextA, aEnd)
		CMOVQCC(nextB, bEnd)
		add(count)
	}

	// Most pairs differ so much that the first step is enough.
	measure()
	unless(1, "rest")
	front()

	Label("both")
	measure()
	giveUp()
	unless(2, "front")
	front()
	back()
	JMP(LabelRef("both"))

	Label("front")
	unless(1, "rest")
	front()
	measure()
	giveUp()
	JMP(LabelRef("front"))

	// The shorter zone has room in a vector.
	Label("rest")
	CMPQ(zoneA, zoneB)
	JBE(LabelRef("hold"))
	XCHGQ(a, b)
	XCHGQ(aEnd, bEnd)
	XCHGQ(zoneA, zoneB)
	Label("hold")
	TESTQ(zoneA, zoneA)
	JE(LabelRef("done"))
	SHRQ(shift, zoneA)
	k.hold(aEnd, zoneA)
	last := k.load(Mem{Base: aEnd, Disp: -k.size})
	Label("meet")
	k.meet(Mem{Base: b})
	k.compare(Mem{Base: b}, last)
	JLS(LabelRef("met"))
	ADDQ(Imm(uint64(k.size)), b)
	CMPQ(b, bEnd)
	JB(LabelRef("meet"))
	Label("met")
	add(k.met())

	Label("done")
	SHRQ(shift, common)
	Store(common, Return("common"))
	if k.tier != "SSE42" {
		VZEROUPPER()
	}
	RET()
}

// load returns an element.
func (k kernel) load(from Mem) reg.GPVirtual {
	element := GP64()
	if k.size == 4 {
		MOVL(from, element.As32())
	} else {
		MOVQ(from, element)
	}
	return element
}

// compare sets the flags as b - a does.
func (k kernel) compare(a Mem, b reg.GPVirtual) {
	if k.size == 4 {
		CMPL(b.As32(), a)
	} else {
		CMPQ(b, a)
	}
}

// at returns the place of an element of a block.
func (k kernel) at(block Mem, i int) Mem {
	return block.Offset(i * k.size)
}

// choose returns the instruction for the size of the elements.
func choose[I any](k kernel, doubleWords, quadWords I) I {
	if k.size == 4 {
		return doubleWords
	}
	return quadWords
}

// countBits sets x to the number of its bits that are set.
func countBits(x reg.GPVirtual) reg.GPVirtual {
	POPCNTL(x.As32(), x.As32())
	return x
}
