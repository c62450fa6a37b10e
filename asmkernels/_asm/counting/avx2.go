package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx2() tier {
	const none = 0x80
	// The upper half of a vector is loaded from earlier bytes, so that nothing behind the 32 of a turn is read.
	const earlier = 2
	// A lane takes its three bytes.
	bytes := GLOBL("countingBytes256", RODATA|NOPTR)
	for i := range 32 {
		n := none
		if i%8 < countedSize {
			n = i/8%2*countedSize + i%8 + i/16*earlier
		}
		DATA(i, U8(n))
	}
	// A half keeps the first byte of each lane.
	firsts := GLOBL("countingFirsts", RODATA|NOPTR)
	for i := range 16 {
		n := none
		if i < 2 {
			n = 8 * i
		}
		DATA(i, U8(n))
	}
	constant := func(n uint64) reg.VecVirtual {
		number, v := GP64(), YMM()
		MOVQ(U64(n), number)
		VMOVQ(number, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
		return v
	}
	return tier{
		name:     "AVX2",
		lanes:    4,
		vector:   YMM,
		constant: constant,
		unpacking: func() func(at Mem) reg.VecVirtual {
			order := YMM()
			VMOVDQU(bytes, order)
			return func(at Mem) reg.VecVirtual {
				v := YMM()
				VMOVDQU(at, v.AsX())
				VINSERTI128(Imm(1), at.Offset(2*countedSize-earlier), v, v)
				VPSHUFB(order, v, v)
				return v
			}
		},
		frequencies: func() func(table reg.Register, words, cells reg.VecVirtual, to Mem) {
			several, four, bias, zero, first := constant(1<<cellsPerWord), constant(4), constant(127+2), YMM(), XMM()
			VPXOR(zero, zero, zero)
			VMOVDQU(firsts, first)
			return func(table reg.Register, words, cells reg.VecVirtual, to Mem) {
				all, word, octave, upper := YMM(), YMM(), YMM(), XMM()
				VPCMPEQD(all, all, all)
				VPXOR(word, word, word)
				VPGATHERQQ(all, Mem{Base: table, Index: words, Scale: 8}, word)
				VPSLLVQ(cells, several, cells)
				VPAND(cells, word, cells)
				VPCMPEQQ(cells, zero, cells)
				VPSRLQ(Imm(counterAt), word, word)
				// The octave is the place of the highest bit, from the third: the exponent of a floating-point number.
				VPOR(four, word, octave)
				VCVTDQ2PS(octave, octave)
				VPSRLD(Imm(23), octave, octave)
				VPSUBQ(bias, octave, octave)
				VPSRLVQ(octave, word, word)
				VPSLLQ(Imm(2), octave, octave)
				VPADDQ(octave, word, word)
				VPANDN(word, cells, word)
				VEXTRACTI128(Imm(1), word, upper)
				VPSHUFB(first, word.AsX(), word.AsX())
				VPSHUFB(first, upper, upper)
				VPUNPCKLWD(upper, word.AsX(), word.AsX())
				VMOVD(word.AsX(), to)
			}
		},
	}
}
