package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx2() tier {
	return tier{
		name:    "AVX2",
		lanes:   4,
		vector:  YMM,
		move:    func(from, to Op) { VMOVDQU(from, to) },
		ones:    func(v Op) { VPCMPEQQ(v, v, v) },
		clear:   func(bits, x Op) { VPANDN(x, bits, x) },
		prepare: func() {},
		key: func(from reg.Register) func(int) Op {
			// There are not registers enough to keep the keys in.
			room := AllocLocal(10 * 32)
			for i := range 10 {
				v := YMM()
				VPBROADCASTQ(Mem{Base: from, Disp: 8 * i}, v)
				VMOVDQU(v, room.Offset(32*i))
			}
			return func(number int) Op { return room.Offset(32 * number) }
		},
		times: func(x, xUpper reg.VecVirtual, y, yUpper Op) {
			// The product of the upper halves has no place in 64 bits.
			cross := YMM()
			VPMULUDQ(y, xUpper, cross)
			other := YMM()
			VPMULUDQ(yUpper, x, other)
			VPADDQ(other, cross, cross)
			VPSLLQ(Imm(32), cross, cross)
			VPMULUDQ(y, x, x)
			VPADDQ(cross, x, x)
		},
		join: func(first, second reg.VecVirtual) {
			VPSRLQ(Imm(32), second, second)
			VPBLENDD(Imm(0b01010101), second, first, first)
		},
		blocks: func(base, offsets reg.Register) (low, high reg.VecVirtual) {
			// As with AVX-512: the first and third token, the second and fourth.
			pair := [2]reg.VecVirtual{YMM(), YMM()}
			for i := range 4 {
				at := GP64()
				MOVWLZX(Mem{Base: offsets, Disp: 2 * i}, at.As32())
				block, v := Mem{Base: base, Index: at, Scale: 1}, pair[i%2]
				if i < 2 {
					VMOVDQU(block, v.AsX())
				} else {
					VINSERTI128(Imm(1), block, v, v)
				}
			}
			low, high = YMM(), YMM()
			VPUNPCKLQDQ(pair[1], pair[0], low)
			VPUNPCKHQDQ(pair[1], pair[0], high)
			return low, high
		},
		list: func(length, limit reg.VecVirtual, first, at reg.Register) {
			greater, mask := YMM(), GP32()
			VPCMPGTQ(limit, length, greater)
			VMOVMSKPD(greater, mask)
			TESTL(mask, mask)
			JZ(LabelRef("short"))
			Label("long")
			lane := GP64()
			TZCNTL(mask, lane.As32())
			ADDQ(first, lane)
			MOVW(lane.As16(), Mem{Base: at})
			ADDQ(Imm(2), at)
			BLSRL(mask, mask)
			JNZ(LabelRef("long"))
			Label("short")
		},
	}
}
