package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 counts bits by looking up halves of bytes.
func avx2() tier {
	counts := GLOBL("hammingCounts", RODATA|NOPTR)
	for i := range 32 {
		n := i % 16
		DATA(i, U8(n&1+n>>1&1+n>>2&1+n>>3))
	}
	halves := GLOBL("hammingHalves", RODATA|NOPTR)
	DATA(0, U64(0x0f0f0f0f0f0f0f0f))
	// A window that begins n lanes before the middle selects the first n lanes.
	masks := GLOBL("hammingMasks", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(uint64(0xffffffffffffffff)*uint64(1-i/4)))
	}
	table, half, zero, mask := YMM(), YMM(), YMM(), YMM()
	return tier{
		name:   "AVX2",
		lanes:  4,
		vector: YMM,
		prepare: func() {
			VMOVDQU(counts, table)
			VPBROADCASTQ(halves, half)
			VPXOR(zero, zero, zero)
		},
		masked: func(words reg.Register) {
			window, start := GP64(), GP64()
			MOVQ(words, start)
			NEGQ(start)
			LEAQ(masks.Offset(32), window)
			VMOVDQU(Mem{Base: window, Index: start, Scale: 8}, mask)
		},
		query: func(at Mem, words int) reg.VecVirtual {
			v := YMM()
			switch words {
			case 0:
				VPMASKMOVQ(at, mask, v)
			case 1:
				VPBROADCASTQ(at, v)
			case 2:
				VBROADCASTI128(at, v)
			default:
				VMOVDQU(at, v)
			}
			return v
		},
		differing: func(at Mem, query, to reg.VecVirtual, whole bool) {
			if whole {
				VPXOR(at, query, to)
				return
			}
			VPMASKMOVQ(at, mask, to)
			VPXOR(to, query, to)
		},
		ones: func(v, sum reg.VecVirtual, first bool) {
			upper := YMM()
			VPSRLW(Imm(4), v, upper)
			VPAND(half, v, v)
			VPAND(half, upper, upper)
			VPSHUFB(v, table, v)
			VPSHUFB(upper, table, upper)
			if first {
				VPADDB(v, upper, sum)
				return
			}
			VPADDB(v, sum, sum)
			VPADDB(upper, sum, sum)
		},
		totals: func(sum reg.VecVirtual) { VPSADBW(zero, sum, sum) },
		add: func(a, b reg.VecVirtual, apart int) reg.VecVirtual {
			x, y := YMM(), YMM()
			if apart == 1 {
				VPUNPCKLQDQ(b, a, x)
				VPUNPCKHQDQ(b, a, y)
			} else {
				VPERM2I128(U8(0x20), b, a, x)
				VPERM2I128(U8(0x31), b, a, y)
			}
			VPADDQ(y, x, x)
			return x
		},
		store: func(v reg.VecVirtual, order []int, to Mem) {
			if places, sorted := placesOf(order); !sorted {
				VPERMQ(U8(places[0]|places[1]<<2|places[2]<<4|places[3]<<6), v, v)
			}
			upper := XMM()
			VEXTRACTI128(U8(1), v, upper)
			VPACKUSDW(upper, v.AsX(), v.AsX())
			VPACKUSDW(v.AsX(), v.AsX(), v.AsX())
			VMOVQ(v.AsX(), to)
		},
	}
}

// placesOf returns the lanes of the rows in ascending order, and whether they are in that order.
func placesOf(order []int) (places []int, sorted bool) {
	places, sorted = make([]int, len(order)), true
	for lane, row := range order {
		places[row] = lane
		sorted = sorted && lane == row
	}
	return places, sorted
}

func orderName(places []int) string {
	name := "hammingOrder"
	for _, place := range places {
		name += fmt.Sprint(place)
	}
	return name
}
