package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Elements have 48 bits, so that with the exponent of 2^52 they are numbers of
// floating point, in the same order. Of these AVX2 has the smaller and larger.
const (
	exponent = 0x4330000000000000
	infinity = 0x7ff0000000000000
)

func avx2() tier {
	numbers := GLOBL("setNumbersTo32", RODATA|NOPTR)
	for i := range 32 {
		DATA(8*i, U64(uint64(i)))
	}
	constant := func(name string, x uint64) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 4 {
			DATA(8*i, U64(x))
		}
		return m
	}
	exponents, infinities := constant("setExponent", exponent), constant("setInfinity", infinity)

	// As setSelections, but for four lanes and with the numbers of their halves,
	// since AVX2 moves nothing larger by number.
	selections := GLOBL("setHalfSelections", RODATA|NOPTR)
	for mask := range 16 {
		at := 0
		for _, selected := range []int{1, 0} {
			for lane := range 4 {
				if mask>>lane&1 == selected {
					DATA(8*mask+at, U8(2*lane))
					DATA(8*mask+at+1, U8(2*lane+1))
					at += 2
				}
			}
		}
	}
	selectLanes := func(v reg.VecVirtual, table, mask reg.Register) reg.VecVirtual {
		to := YMM()
		VPMOVZXBD(Mem{Base: table, Index: mask, Scale: 8}, to)
		VPERMD(v, to, to)
		return to
	}
	length := YMM()

	return tier{
		name:     "AVX2",
		laneBits: 2,
		vector:   YMM,
		sizes: []size{
			{bits: 1, lanes: []int{1, 0}},
			{bits: 2, lanes: []int{0, 1}},
			{bits: 3, lanes: []int{0, 1}},
		},
		prepare: func(count reg.Register) {
			VMOVQ(count, length.AsX())
			VPBROADCASTQ(length.AsX(), length)
		},
		load: func(from Mem, first int) reg.VecVirtual {
			left, v := YMM(), YMM()
			VPCMPGTQ(numbers.Offset(8*first), length, left)
			VPMASKMOVQ(from, left, v)
			VPOR(exponents, v, v)
			fill := YMM()
			VMOVDQU(infinities, fill)
			VBLENDVPD(left, v, fill, v)
			return v
		},
		smaller: func(a, b reg.VecVirtual) reg.VecVirtual {
			v := YMM()
			VMINPD(a, b, v)
			return v
		},
		larger: func(a, b reg.VecVirtual) reg.VecVirtual {
			v := YMM()
			VMAXPD(a, b, v)
			return v
		},
		exchange: func(bits int, from reg.VecVirtual) reg.VecVirtual {
			v := YMM()
			switch bits {
			case 1:
				VPERMILPD(Imm(0x5), from, v)
			case 2:
				VPERMQ(Imm(0x4e), from, v)
			default:
				VPERMQ(Imm(0x1b), from, v)
			}
			return v
		},
		sorted: func(a, b reg.VecVirtual, laneBit int) reg.VecVirtual {
			smaller, v := YMM(), YMM()
			VMINPD(a, b, smaller)
			VMAXPD(a, b, v)
			VBLENDPD(Imm([]uint64{0xa, 0xc}[laneBit]), v, smaller, v)
			return v
		},
		transpose: func(m *matrix) {
			m.interleave(0)
			if m.bits > 1 {
				bit := m.place[1]
				m.pairs(bit, func(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
					low, high = YMM(), YMM()
					VPERM2I128(Imm(0x20), b, a, low)
					VPERM2I128(Imm(0x31), b, a, high)
					return low, high
				})
				other := m.digitAt(1)
				m.place[1], m.place[other] = 1, bit
			}
		},
		store: func(vectors []reg.VecVirtual, out, count reg.Register) {
			table, remove := GP64(), YMM()
			LEAQ(selections, table)
			VMOVDQU(exponents, remove)
			XORQ(count, count)
			before := YMM()
			VPCMPEQQ(before, before, before)
			for _, v := range vectors {
				previous, mask := YMM(), GP64()
				VPERM2I128(Imm(0x21), v, before, previous)
				VPALIGNR(Imm(8), previous, v, previous)
				VPCMPEQQ(previous, v, previous)
				VMOVMSKPD(previous, mask.As32())
				XORQ(Imm(15), mask)
				distinct := selectLanes(v, table, mask)
				VPANDN(distinct, remove, distinct)
				VMOVDQU(distinct, Mem{Base: out, Index: count, Scale: 8})
				POPCNTQ(mask, mask)
				ADDQ(mask, count)
				before = v
			}
		},
		partition: func() {
			TEXT("partitionAVX2", NOSPLIT, "func(list, high []uint64, bit uint64) (low int)")
			p := beginPartition("AVX2", 4)
			table, shift := GP64(), GP64()
			LEAQ(selections, table)
			MOVQ(U32(63), shift)
			SUBQ(p.bit, shift)
			toSign := XMM()
			VMOVQ(shift, toSign)
			p.vectors(func() {
				v, sign, mask := YMM(), YMM(), GP64()
				VMOVDQU(Mem{Base: p.at}, v)
				VPSLLQ(toSign, v, sign)
				VMOVMSKPD(sign, mask.As32())
				XORQ(Imm(15), mask)
				v = selectLanes(v, table, mask)
				VMOVDQU(v, Mem{Base: p.low})
				VMOVDQU(v, Mem{Base: p.high})
				POPCNTQ(mask, mask)
				p.advance(mask)
			})
			p.finish()
		},
	}
}
