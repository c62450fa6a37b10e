// Command intersect writes the kernels that count the common elements of two
// sets.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	kernel("AVX512", 8, missingAVX512)
	kernel("AVX2", 4, missingAVX2)
	Generate()
}

// kernel writes the function. It compares blocks of both sets, every element of
// one with every element of the other, and leaves behind the block that ends
// first. No two blocks meet twice, and no element is in two pairs of equals.
//
// Missing returns how many elements of a block of a are not in the block of b.
func kernel(name string, block int, missing func(a, b reg.Register) reg.GPVirtual) {
	TEXT("intersectBlocks"+name, NOSPLIT, "func(a, b []uint64, need int) (i, j, common int)")
	Doc(
		"intersectBlocks"+name+" merges a and b until less than a block of one of them is left, or so few",
		"that they cannot have need elements in common. Common is what a[:i] and b[:j] have in",
		"common, and no other element of them is in both sets.",
	)
	Pragma("noescape")
	a := Load(Param("a").Base(), GP64())
	aEnd := Load(Param("a").Len(), GP64())
	LEAQ(Mem{Base: a, Index: aEnd, Scale: 8}, aEnd)
	b := Load(Param("b").Base(), GP64())
	bEnd := Load(Param("b").Len(), GP64())
	LEAQ(Mem{Base: b, Index: bEnd, Scale: 8}, bEnd)
	need := Load(Param("need"), GP64())
	common := GP64()
	XORQ(common, common)

	Label("block")
	left, leftB := GP64(), GP64()
	MOVQ(aEnd, left)
	SUBQ(a, left)
	MOVQ(bEnd, leftB)
	SUBQ(b, leftB)
	CMPQ(leftB, left)
	CMOVQLT(leftB, left)
	CMPQ(left, U32(uint32(8*block)))
	JL(LabelRef("done"))
	SARQ(Imm(3), left)
	ADDQ(common, left)
	CMPQ(left, need)
	JL(LabelRef("done"))

	SUBQ(missing(a, b), common)
	ADDQ(U32(uint32(block)), common)
	lastA, lastB, nextA, nextB := GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: 8 * (block - 1)}, lastA)
	MOVQ(Mem{Base: b, Disp: 8 * (block - 1)}, lastB)
	LEAQ(Mem{Base: a, Disp: 8 * block}, nextA)
	LEAQ(Mem{Base: b, Disp: 8 * block}, nextB)
	CMPQ(lastA, lastB)
	CMOVQLS(nextA, a)
	CMOVQCC(nextB, b)
	JMP(LabelRef("block"))

	Label("done")
	SUBQ(Load(Param("a").Base(), GP64()), a)
	SHRQ(Imm(3), a)
	Store(a, Return("i"))
	SUBQ(Load(Param("b").Base(), GP64()), b)
	SHRQ(Imm(3), b)
	Store(b, Return("j"))
	Store(common, Return("common"))
	VZEROUPPER()
	RET()
}

func missingAVX512(a, b reg.Register) reg.GPVirtual {
	const notEqual = 4
	v, count := ZMM(), GP64()
	VMOVDQU64(Mem{Base: a}, v)
	// Two chains of comparisons, each for those that all before did not find.
	chains := [2]reg.Register{K(), K()}
	for i := range 8 {
		k, element := chains[i%2], Mem{Base: b, Disp: 8 * i}
		if i < 2 {
			VPCMPUQ_BCST(Imm(notEqual), element, v, k)
		} else {
			VPCMPUQ_BCST(Imm(notEqual), element, v, k, k)
		}
	}
	KANDB(chains[0], chains[1], chains[0])
	KMOVB(chains[0], count.As32())
	POPCNTQ(count, count)
	return count
}

func missingAVX2(a, b reg.Register) reg.GPVirtual {
	v, found, count := YMM(), YMM(), GP64()
	VMOVDQU(Mem{Base: a}, v)
	for i := range 4 {
		element := YMM()
		VPBROADCASTQ(Mem{Base: b, Disp: 8 * i}, element)
		if i == 0 {
			VPCMPEQQ(element, v, found)
			continue
		}
		VPCMPEQQ(element, v, element)
		VPOR(element, found, found)
	}
	VMOVMSKPD(found, count.As32())
	XORQ(Imm(15), count)
	POPCNTQ(count, count)
	return count
}
