package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx2() tier {
	const lanes = 4
	// A window of this table that begins n lanes before its middle selects the first n lanes.
	masks := GLOBL("simHashMasks", RODATA|NOPTR)
	for i := range 2 * lanes {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/lanes)))
	}
	factors := make(map[uint64]Mem)
	for i, factor := range []uint64{mixFactor1, mixFactor2} {
		m := GLOBL(fmt.Sprintf("simHashFactor%d", i+1), RODATA|NOPTR)
		for lane := range 2 * lanes {
			DATA(8*lane, U64(factor>>(32*(lane/lanes))))
		}
		factors[factor] = m
	}
	return tier{
		name:      "AVX2",
		lanes:     lanes,
		vector:    YMM,
		halves:    []func(v reg.VecVirtual) (lower, upper reg.VecVirtual){upperOfTwo, upperOfOne},
		clear:     func(v Op) { VPXOR(v, v, v) },
		broadcast: func(x Mem, v reg.VecVirtual) { VPBROADCASTQ(x, v) },
		load: func(from Mem) reg.VecVirtual {
			v := YMM()
			VMOVDQU(from, v)
			return v
		},
		loadFirst: func(from Mem, count reg.Register) (reg.VecVirtual, func()) {
			address, mask, v := GP64(), YMM(), YMM()
			LEAQ(masks.Offset(8*lanes), address)
			offset := GP64()
			MOVQ(count, offset)
			SHLQ(Imm(3), offset)
			SUBQ(offset, address)
			VMOVDQU(Mem{Base: address}, mask)
			VPMASKMOVQ(from, mask, v)
			return v, func() { VPAND(mask, v, v) }
		},
		multiply: func(factor uint64) func(reg.VecVirtual) {
			whole := factors[factor]
			return func(v reg.VecVirtual) {
				// The product of the upper halves has no place in 64 bits.
				cross, other := YMM(), YMM()
				VPSRLQ(Imm(32), v, cross)
				VPMULUDQ(whole, cross, cross)
				VPMULUDQ(whole.Offset(8*lanes), v, other)
				VPADDQ(other, cross, cross)
				VPSLLQ(Imm(32), cross, cross)
				VPMULUDQ(whole, v, v)
				VPADDQ(cross, v, v)
			}
		},
		mix: func(shift uint64, v reg.VecVirtual) {
			shifted := YMM()
			VPSRLQ(Imm(shift), v, shifted)
			VPXOR(shifted, v, v)
		},
		xor: func(a, b Op) { VPXOR(a, b, b) },
		add: func(a, b, c reg.VecVirtual) reg.VecVirtual {
			carry := like(a)
			VPAND(b, a, carry)
			VPXOR(b, a, a)
			if c == nil {
				return carry
			}
			other := like(a)
			VPAND(c, a, other)
			VPXOR(c, a, a)
			VPOR(other, carry, carry)
			return carry
		},
	}
}
