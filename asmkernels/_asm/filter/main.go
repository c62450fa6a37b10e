// Command filter writes the kernels that select small elements.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	avx512()
	avx2()
	Generate()
}

// A filter is a function with its registers.
type filter struct {
	lanes   int
	at, end reg.GPVirtual // the elements to come
	out     reg.GPVirtual // where the next one goes
	limit   reg.GPVirtual
}

// begin writes the beginning of the function for a tier.
func begin(tier string, lanes int) filter {
	TEXT("filter"+tier, NOSPLIT, "func(out, list []uint64, limit uint64) (count int)")
	Doc(
		"filter" + tier + " is filterGo for lists of at least a vector.",
	)
	Pragma("noescape")
	f := filter{lanes: lanes, at: GP64(), end: GP64(), out: GP64(), limit: GP64()}
	Load(Param("list").Base(), f.at)
	Load(Param("list").Len(), f.end)
	LEAQ(Mem{Base: f.at, Index: f.end, Scale: 8}, f.end)
	Load(Param("out").Base(), f.out)
	Load(Param("limit"), f.limit)
	return f
}

// vectors writes the loop over whole vectors. Body stores the elements of a
// vector that are below the limit, and returns their mask.
func (f filter) vectors(body func() (mask reg.GPVirtual)) {
	last := GP64()
	LEAQ(Mem{Base: f.end, Disp: -8 * f.lanes}, last)
	CMPQ(f.at, last)
	JA(LabelRef("rest"))
	Label("vector")
	f.advance(body())
	ADDQ(U32(uint32(8*f.lanes)), f.at)
	CMPQ(f.at, last)
	JBE(LabelRef("vector"))
	Label("rest")
	CMPQ(f.at, f.end)
	JE(LabelRef("done"))
}

// advance moves the place to write behind the elements in mask.
func (f filter) advance(mask reg.GPVirtual) {
	POPCNTQ(mask, mask)
	LEAQ(Mem{Base: f.out, Index: mask, Scale: 8}, f.out)
}

// finish writes the end.
func (f filter) finish() {
	Label("done")
	SUBQ(Load(Param("out").Base(), GP64()), f.out)
	SHRQ(Imm(3), f.out)
	Store(f.out, Return("count"))
	VZEROUPPER()
	RET()
}

func avx512() {
	f := begin("AVX512", 8)
	limit := ZMM()
	VPBROADCASTQ(f.limit, limit)
	store := func(v reg.VecVirtual, below reg.Register) (mask reg.GPVirtual) {
		// To memory it takes many times as long on CPUs of AMD.
		VPCOMPRESSQ(v, below, v)
		VMOVDQU64(v, Mem{Base: f.out})
		mask = GP64()
		KMOVB(below, mask.As32())
		return mask
	}
	f.vectors(func() reg.GPVirtual {
		v, below := ZMM(), K()
		VMOVDQU64(Mem{Base: f.at}, v)
		VPCMPUQ(Imm(1), limit, v, below) // less
		return store(v, below)
	})
	left, bits, rest := GP64(), GP64(), K()
	MOVQ(f.end, left)
	SUBQ(f.at, left)
	SHRQ(Imm(3), left)
	MOVQ(U32(0xff), bits)
	BZHIQ(left, bits, bits)
	KMOVB(bits.As32(), rest)
	v, below := ZMM(), K()
	VMOVDQU64_Z(Mem{Base: f.at}, rest, v)
	VPCMPUQ(Imm(1), limit, v, rest, below)
	f.advance(store(v, below))
	f.finish()
}

func avx2() {
	// The numbers of the halves of the lanes in every mask, in order, since AVX2 moves nothing larger by number.
	selections := GLOBL("filterSelections", RODATA|NOPTR)
	for mask := range 16 {
		at := 0
		for lane := range 4 {
			if mask>>lane&1 == 1 {
				DATA(8*mask+at, U8(2*lane))
				DATA(8*mask+at+1, U8(2*lane+1))
				at += 2
			}
		}
		for ; at < 8; at++ {
			DATA(8*mask+at, U8(0))
		}
	}
	f := begin("AVX2", 4)
	limit, table := YMM(), GP64()
	VMOVQ(f.limit, limit.AsX())
	VPBROADCASTQ(limit.AsX(), limit)
	LEAQ(selections, table)
	f.vectors(func() reg.GPVirtual {
		v, below, to, mask := YMM(), YMM(), YMM(), GP64()
		VMOVDQU(Mem{Base: f.at}, v)
		VPCMPGTQ(v, limit, below)
		VMOVMSKPD(below, mask.As32())
		VPMOVZXBD(Mem{Base: table, Index: mask, Scale: 8}, to)
		VPERMD(v, to, to)
		VMOVDQU(to, Mem{Base: f.out})
		return mask
	})
	Label("element")
	x, mask := GP64(), GP64()
	MOVQ(Mem{Base: f.at}, x)
	MOVQ(x, Mem{Base: f.out})
	XORQ(mask, mask)
	CMPQ(x, f.limit)
	ADCQ(Imm(0), mask)
	LEAQ(Mem{Base: f.out, Index: mask, Scale: 8}, f.out)
	ADDQ(Imm(8), f.at)
	CMPQ(f.at, f.end)
	JNE(LabelRef("element"))
	f.finish()
}
