package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx512() tier {
	// A lane takes its three bytes.
	bytes := GLOBL("countingBytes512", RODATA|NOPTR)
	for i := range 8 * lanes {
		DATA(i, U8(i/8*countedSize+i%8%countedSize))
	}
	constant := func(n uint64) reg.VecVirtual {
		number, v := GP64(), ZMM()
		MOVQ(U64(n), number)
		VPBROADCASTQ(number, v)
		return v
	}
	return tier{
		name:     "AVX512",
		lanes:    lanes,
		vector:   ZMM,
		constant: constant,
		unpacking: func() func(at Mem) reg.VecVirtual {
			order, number, isHash := ZMM(), GP64(), K()
			VMOVDQU64(bytes, order)
			MOVQ(U64(0x0707070707070707), number)
			KMOVQ(number, isHash)
			return func(at Mem) reg.VecVirtual {
				v := ZMM()
				VMOVDQU(at, v.AsY())
				VPERMB_Z(v, order, isHash, v)
				return v
			}
		},
		frequencies: func() func(table reg.Register, words, cells reg.VecVirtual, to Mem) {
			several, four, most := constant(1<<cellsPerWord), constant(4), constant(61)
			return func(table reg.Register, words, cells reg.VecVirtual, to Mem) {
				all, isSeveral, word, octave := K(), K(), ZMM(), ZMM()
				KXNORB(all, all, all)
				VPGATHERQQ(Mem{Base: table, Index: words, Scale: 8}, all, word)
				VPSLLVQ(cells, several, cells)
				VPTESTMQ(cells, word, isSeveral)
				VPSRLQ(Imm(counterAt), word, word)
				// The octave is the place of the highest bit, from the third.
				VPORQ(four, word, octave)
				VPLZCNTQ(octave, octave)
				VPSUBQ(octave, most, octave)
				VPSRLVQ(octave, word, word)
				VPSLLQ(Imm(2), octave, octave)
				VPADDQ_Z(octave, word, isSeveral, word)
				VPMOVQB(word, to)
			}
		},
	}
}
