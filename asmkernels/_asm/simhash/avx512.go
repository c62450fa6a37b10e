package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The operations on three bits, as truth tables.
const (
	sumOfThree   = 0x96
	carryOfThree = 0xe8
)

func avx512() tier {
	return tier{
		name:   "AVX512",
		lanes:  8,
		vector: ZMM,
		halves: []func(v reg.VecVirtual) (lower, upper reg.VecVirtual){
			func(v reg.VecVirtual) (lower, upper reg.VecVirtual) {
				upper = YMM()
				VEXTRACTI64X4(Imm(1), v, upper)
				return v.AsY().(reg.VecVirtual), upper
			},
			upperOfTwo,
			upperOfOne,
		},
		clear:     func(v Op) { VPXORQ(v, v, v) },
		broadcast: func(x Mem, v reg.VecVirtual) { VPBROADCASTQ(x, v) },
		load: func(from Mem) reg.VecVirtual {
			v := ZMM()
			VMOVDQU64(from, v)
			return v
		},
		loadFirst: func(from Mem, count reg.Register) (reg.VecVirtual, func()) {
			bits, k, v := GP64(), K(), ZMM()
			MOVQ(U32(0xff), bits)
			BZHIQ(count, bits, bits)
			KMOVB(bits.As32(), k)
			VMOVDQU64_Z(from, k, v)
			return v, func() { VMOVDQA64_Z(v, k, v) }
		},
		multiply: func(factor uint64) func(reg.VecVirtual) {
			bits, all := GP64(), ZMM()
			MOVQ(U64(factor), bits)
			VPBROADCASTQ(bits, all)
			return func(v reg.VecVirtual) { VPMULLQ(all, v, v) }
		},
		mix: func(shift uint64, v reg.VecVirtual) {
			shifted := ZMM()
			VPSRLQ(Imm(shift), v, shifted)
			VPXORQ(shifted, v, v)
		},
		xor: func(a, b Op) { VPXORQ(a, b, b) },
		add: func(a, b, c reg.VecVirtual) reg.VecVirtual {
			carry := like(a)
			if c == nil {
				VPANDQ(b, a, carry)
				VPXORQ(b, a, a)
				return carry
			}
			VMOVDQA64(a, carry)
			VPTERNLOGQ(U8(carryOfThree), c, b, carry)
			VPTERNLOGQ(U8(sumOfThree), c, b, a)
			return carry
		},
	}
}

// like returns a new register as long as v.
func like(v reg.VecVirtual) reg.VecVirtual {
	switch v.Size() {
	case 64:
		return ZMM()
	case 32:
		return YMM()
	}
	return XMM()
}

// upperOfTwo and upperOfOne are the halves of the shorter vectors.
func upperOfTwo(v reg.VecVirtual) (lower, upper reg.VecVirtual) {
	upper = XMM()
	VEXTRACTI128(Imm(1), v, upper)
	return v.AsX().(reg.VecVirtual), upper
}

func upperOfOne(v reg.VecVirtual) (lower, upper reg.VecVirtual) {
	upper = XMM()
	VPSHUFD(Imm(0x4e), v, upper)
	return v, upper
}
