package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx512() tier {
	mask := K()
	orders := map[[8]int]Mem{}
	return tier{
		name:    "AVX512",
		lanes:   8,
		vector:  ZMM,
		prepare: func() {},
		masked: func(words reg.Register) {
			bits := GP64()
			MOVL(U32(0xff), bits.As32())
			BZHIQ(words, bits, bits)
			KMOVB(bits.As32(), mask)
		},
		query: func(at Mem, words int) reg.VecVirtual {
			v := ZMM()
			switch words {
			case 0:
				VMOVDQU64_Z(at, mask, v)
			case 1:
				VPBROADCASTQ(at, v)
			case 2:
				VBROADCASTI64X2(at, v)
			case 4:
				VBROADCASTI64X4(at, v)
			default:
				VMOVDQU64(at, v)
			}
			return v
		},
		differing: func(at Mem, query, to reg.VecVirtual, whole bool) {
			if whole {
				VPXORQ(at, query, to)
			} else {
				VPXORQ_Z(at, query, mask, to)
			}
		},
		ones: func(v, sum reg.VecVirtual, first bool) {
			if first {
				VPOPCNTQ(v, sum)
				return
			}
			VPOPCNTQ(v, v)
			VPADDQ(v, sum, sum)
		},
		totals: func(reg.VecVirtual) {},
		add: func(a, b reg.VecVirtual, apart int) reg.VecVirtual {
			x, y := ZMM(), ZMM()
			if apart == 1 {
				VPUNPCKLQDQ(b, a, x)
				VPUNPCKHQDQ(b, a, y)
			} else {
				VSHUFI64X2(U8(0b10_00_10_00), b, a, x)
				VSHUFI64X2(U8(0b11_01_11_01), b, a, y)
			}
			VPADDQ(y, x, x)
			return x
		},
		store: func(v reg.VecVirtual, order []int, to Mem) {
			if places, sorted := placesOf(order); !sorted {
				table, ok := orders[[8]int(places)]
				if !ok {
					table = GLOBL(orderName(places), RODATA|NOPTR)
					for i, place := range places {
						DATA(8*i, U64(place))
					}
					orders[[8]int(places)] = table
				}
				lanes := ZMM()
				VMOVDQU64(table, lanes)
				VPERMQ(v, lanes, v)
			}
			VPMOVQW(v, to)
		},
	}
}
