package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx512() tier {
	numbers := GLOBL("hashLanes", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(uint64(i)))
	}
	var (
		quarters [4]reg.Register // masks of the four parts of 16 bytes in a vector
		lanes    = ZMM()         // the numbers of the lanes
		halves   = K()           // mask of the lower halves of all lanes
	)
	return tier{
		name:   "AVX512",
		lanes:  8,
		vector: ZMM,
		move:   func(from, to Op) { VMOVDQU64(from, to) },
		ones:   func(v Op) { VPTERNLOGQ(U8(0xff), v, v, v) },
		clear:  func(bits, x Op) { VPANDNQ(x, bits, x) },
		prepare: func() {
			VMOVDQU64(numbers, lanes)
			lower := GP32()
			MOVL(U32(0x5555), lower)
			KMOVW(lower, halves)
			for i := 1; i < 4; i++ {
				bits := GP32()
				MOVL(U32(uint32(0xf)<<(4*i)), bits)
				k := K()
				KMOVW(bits, k)
				quarters[i] = k
			}
		},
		key: func(from reg.Register) func(int) Op {
			var keys [10]reg.VecVirtual
			for i := range keys {
				keys[i] = ZMM()
				VPBROADCASTQ(Mem{Base: from, Disp: 8 * i}, keys[i])
			}
			return func(number int) Op { return keys[number] }
		},
		times: func(x, _ reg.VecVirtual, y, _ Op) { VPMULLQ(y, x, x) },
		join: func(first, second reg.VecVirtual) {
			VPSRLQ(Imm(32), second, second)
			VPBLENDMD(second, first, halves, first)
		},
		blocks: func(base, offsets reg.Register) (low, high reg.VecVirtual) {
			// Each of two vectors takes every other token, so that interleaving them leaves the tokens in order.
			pair := [2]reg.VecVirtual{ZMM(), ZMM()}
			for i := range 8 {
				at := GP64()
				MOVWLZX(Mem{Base: offsets, Disp: 2 * i}, at.As32())
				block, v := Mem{Base: base, Index: at, Scale: 1}, pair[i%2]
				if i < 2 {
					VMOVDQU64(block, v.AsX())
				} else {
					VBROADCASTI32X4(block, quarters[i/2], v)
				}
			}
			low, high = ZMM(), ZMM()
			VPUNPCKLQDQ(pair[1], pair[0], low)
			VPUNPCKHQDQ(pair[1], pair[0], high)
			return low, high
		},
		list: func(length, limit reg.VecVirtual, first, at reg.Register) {
			k := K()
			VPCMPUQ(Imm(6), limit, length, k) // greater
			KTESTB(k, k)
			JZ(LabelRef("short"))
			long, count := ZMM(), GP64()
			VPBROADCASTQ(first, long)
			VPADDQ(lanes, long, long)
			VPCOMPRESSQ_Z(long, k, long)
			VPMOVQW(long, long.AsX())
			VMOVDQU64(long.AsX(), Mem{Base: at})
			KMOVB(k, count.As32())
			POPCNTQ(count, count)
			LEAQ(Mem{Base: at, Index: count, Scale: 2}, at)
			Label("short")
		},
	}
}
