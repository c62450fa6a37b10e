package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512 finds equal elements as zeros among the minima of their differences:
// minima are faster than the unions of masks.
func avx512(size int) kernel {
	k := kernel{tier: "AVX512", size: size, lanes: 64 / size}
	difference, minimum := choose(k, VPXORD_BCST, VPXORQ_BCST), choose(k, VPMINUD, VPMINUQ)
	equal := choose(k, VPTESTNMD, VPTESTNMQ)
	k.matches = func(a, b Mem) reg.GPVirtual {
		v := ZMM()
		VMOVDQU64(a, v)
		// Two chains of minima go side by side.
		var chains [2]reg.VecVirtual
		for i := range k.lanes {
			x := ZMM()
			difference(k.at(b, i), v, x)
			if i < len(chains) {
				chains[i] = x
			} else {
				minimum(x, chains[i%2], chains[i%2])
			}
		}
		minimum(chains[1], chains[0], chains[0])
		zeros, found := K(), GP64()
		equal(chains[0], chains[0], zeros)
		KMOVW(zeros, found.As32())
		return countBits(found)
	}
	k.holdMasked()
	return k
}

// vp2intersect compares blocks with the instruction made for it, which neither avo nor the assembler of Go knows.
func vp2intersect(size int) kernel {
	k := kernel{tier: "VP2Intersect", size: size, lanes: 64 / size}
	k.matches = func(a, b Mem) reg.GPVirtual {
		VMOVDQU64(a, reg.Z0)
		VMOVDQU64(b, reg.Z1)
		// VP2INTERSECTD Z1, Z0, K2 or VP2INTERSECTQ, which also sets K3: the
		// prefix of three bytes after the first, opcode 0x68, registers.
		width := uint32(choose(k, 0x7f, 0xff))
		Instruction(&ir.Instruction{
			Opcode:   "LONG",
			Operands: []Op{U32(0x4800f262 | width<<16)},
			Inputs:   []Op{reg.Z0, reg.Z1},
			Outputs:  []Op{reg.K2, reg.K3},
		})
		Instruction(&ir.Instruction{Opcode: "WORD", Operands: []Op{U16(0xd168)}})
		found := GP64()
		KMOVW(reg.K2, found.As32())
		return countBits(found)
	}
	k.holdMasked()
	return k
}

// holdMasked sets the functions for the rest.
func (k *kernel) holdMasked() {
	v, equal, found, lanes := ZMM(), K(), K(), GP32()
	k.hold = func(end reg.Register, count reg.GPVirtual) {
		mask, start := K(), GP64()
		MOVL(I32(-1), lanes)
		BZHIL(count.As32(), lanes, lanes)
		KMOVW(lanes, mask)
		MOVQ(count, start)
		NEGQ(start)
		choose(*k, VMOVDQU32_Z, VMOVDQU64_Z)(Mem{Base: end, Index: start, Scale: uint8(k.size)}, mask, v)
		KXORW(found, found, found)
	}
	k.meet = func(b Mem) {
		choose(*k, VPCMPEQD_BCST, VPCMPEQQ_BCST)(b, v, equal)
		KORW(equal, found, found)
	}
	k.met = func() reg.GPVirtual {
		count := GP64()
		KMOVW(found, count.As32())
		ANDL(lanes, count.As32()) // the other lanes have been compared as zeros
		return countBits(count)
	}
}
