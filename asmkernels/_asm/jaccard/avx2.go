package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lastLanes returns the address of eight lanes of 32 bits that are set, before eight that are not. A window that begins
// n lanes before the middle selects the first n lanes of a vector.
func lastLanes() Mem {
	if masks.Base == nil {
		masks = GLOBL("intersectMasks", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(uint32(0xffffffff)*uint32(1-i/8)))
		}
	}
	return masks.Offset(32)
}

var masks Mem

func avx2(size int) kernel {
	k := kernel{tier: "AVX2", size: size, lanes: 32 / size}
	broadcast, equal := choose(k, VPBROADCASTD, VPBROADCASTQ), choose(k, VPCMPEQD, VPCMPEQQ)
	signs := choose(k, VMOVMSKPS, VMOVMSKPD)
	count := func(found reg.VecVirtual) reg.GPVirtual {
		bits := GP64()
		signs(found, bits.As32())
		return countBits(bits)
	}
	k.matches = func(a, b Mem) reg.GPVirtual {
		v := YMM()
		VMOVDQU(a, v)
		// Two chains of unions go side by side.
		var chains [2]reg.VecVirtual
		for i := range k.lanes {
			x := YMM()
			broadcast(k.at(b, i), x)
			equal(x, v, x)
			if i < len(chains) {
				chains[i] = x
			} else {
				VPOR(x, chains[i%2], chains[i%2])
			}
		}
		VPOR(chains[1], chains[0], chains[0])
		return count(chains[0])
	}
	v, lanes, found := YMM(), YMM(), YMM()
	k.hold = func(end reg.Register, count reg.GPVirtual) {
		window, start := GP64(), GP64()
		MOVQ(count, start)
		NEGQ(start)
		LEAQ(lastLanes(), window)
		VMOVDQU(Mem{Base: window, Index: start, Scale: uint8(size)}, lanes)
		choose(k, VPMASKMOVD, VPMASKMOVQ)(Mem{Base: end, Index: start, Scale: uint8(size)}, lanes, v)
		VPXOR(found, found, found)
	}
	k.meet = func(b Mem) {
		x := YMM()
		broadcast(b, x)
		equal(x, v, x)
		VPOR(x, found, found)
	}
	k.met = func() reg.GPVirtual {
		VPAND(lanes, found, found) // the other lanes have been compared as zeros
		return count(found)
	}
	return k
}
