package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sse42 is for lists of a vector's length or more: the elements before the rest are readable, too.
func sse42() kernel {
	k := kernel{tier: "SSE42", size: 4, lanes: 4, needs: " for sets of four elements or more"}
	count := func(found reg.VecVirtual) reg.GPVirtual {
		bits := GP64()
		MOVMSKPS(found, bits.As32())
		return bits
	}
	k.matches = func(a, b Mem) reg.GPVirtual {
		v, next := XMM(), XMM()
		MOVOU(a, v)
		MOVOU(b, next)
		var found reg.VecVirtual
		for i := range k.lanes {
			x := XMM()
			if i == 0 {
				MOVO(next, x)
			} else {
				PSHUFD(Imm(uint64(0b11_10_01_00>>(2*i)|0b11_10_01_00<<(8-2*i))&0xff), next, x)
			}
			PCMPEQL(v, x)
			if i == 0 {
				found = x
			} else {
				POR(x, found)
			}
		}
		return countBits(count(found))
	}
	v, found, lanes := XMM(), XMM(), GP32()
	k.hold = func(end reg.Register, count reg.GPVirtual) {
		MOVOU(Mem{Base: end, Disp: -16}, v)
		MOVL(count.As32(), reg.ECX)
		MOVL(U32(0xf0), lanes)
		SHRL(reg.CL, lanes) // the last of four
		PXOR(found, found)
	}
	k.meet = func(b Mem) {
		x := XMM()
		MOVSS(b, x)
		PSHUFD(Imm(0), x, x)
		PCMPEQL(v, x)
		POR(x, found)
	}
	k.met = func() reg.GPVirtual {
		bits := count(found)
		ANDL(lanes, bits.As32())
		return countBits(bits)
	}
	return k
}

// sse42Pairs is for 64-bit numbers. A block of four has two vectors of two.
func sse42Pairs() kernel {
	k := kernel{tier: "SSE42", size: 8, lanes: 4, needs: " for sets of four elements or more"}
	count := func(found [2]reg.VecVirtual) reg.GPVirtual {
		bits := GP64()
		PACKSSLW(found[1], found[0]) // an element has 32 bits
		MOVMSKPS(found[0], bits.As32())
		return bits
	}
	k.matches = func(a, b Mem) reg.GPVirtual {
		var v, found [2]reg.VecVirtual
		for i := range v {
			v[i] = XMM()
			MOVOU(a.Offset(16*i), v[i])
		}
		for i := range 2 * len(v) {
			next := XMM()
			MOVOU(b.Offset(16*(i/2)), next)
			if i%2 == 1 {
				PSHUFD(Imm(0b01_00_11_10), next, next) // the other element first
			}
			for j := range v {
				x := next
				if j == 0 {
					x = XMM()
					MOVO(next, x)
				}
				PCMPEQQ(v[j], x)
				if i == 0 {
					found[j] = x
				} else {
					POR(x, found[j])
				}
			}
		}
		return countBits(count(found))
	}
	v, found, lanes := [2]reg.VecVirtual{XMM(), XMM()}, [2]reg.VecVirtual{XMM(), XMM()}, GP32()
	k.hold = func(end reg.Register, count reg.GPVirtual) {
		for i := range v {
			MOVOU(Mem{Base: end, Disp: 16*i - 32}, v[i])
			PXOR(found[i], found[i])
		}
		MOVL(count.As32(), reg.ECX)
		MOVL(U32(0xf0), lanes)
		SHRL(reg.CL, lanes) // the last of four
	}
	k.meet = func(b Mem) {
		x := XMM()
		MOVQ(b, x)
		PSHUFD(Imm(0b01_00_01_00), x, x)
		for i := range v {
			y := XMM()
			MOVO(x, y)
			PCMPEQQ(v[i], y)
			POR(y, found[i])
		}
	}
	k.met = func() reg.GPVirtual {
		bits := count(found)
		ANDL(lanes, bits.As32())
		return countBits(bits)
	}
	return k
}
