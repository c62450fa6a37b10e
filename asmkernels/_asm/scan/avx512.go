package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// positions is what avx512 needs to write down the bits of a mask.
type positions struct {
	all  reg.VecVirtual // 0 to 63
	base reg.VecVirtual // Written, in 32 words
}

// store writes the positions of the bits of mask where at points, and moves at behind them. They are at most 32 starts
// and 33 ends: one end in two bytes, but for one more where a solo closed the last block.
func (p positions) store(mask reg.GPVirtual, at reg.Register, most int) {
	k, bytes, words := K(), ZMM(), ZMM()
	KMOVQ(mask, k)
	VPCOMPRESSB_Z(p.all, k, bytes)
	VPMOVZXBW(bytes.AsY(), words)
	VPADDW(p.base, words, words)
	VMOVDQU64(words, Mem{Base: at})
	if most > 32 {
		VEXTRACTI64X4(Imm(1), bytes, bytes.AsY())
		VPMOVZXBW(bytes.AsX(), words.AsY())
		VPADDW(p.base.AsY(), words.AsY(), words.AsY())
		VMOVDQU(words.AsY(), Mem{Base: at, Disp: 64})
	}
	POPCNTQ(mask, mask)
	LEAQ(Mem{Base: at, Index: mask, Scale: 2}, at)
}

func avx512() {
	iota64 := GLOBL("scanPositions", RODATA|NOPTR)
	for i := range blockSize {
		DATA(i, U8(i))
	}
	// The high bit says that an ASCII character is a letter or digit.
	classes := GLOBL("scanASCII", RODATA|NOPTR)
	for c := range 128 {
		if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			DATA(c, U8(0x80))
		} else {
			DATA(c, U8(0))
		}
	}
	caseBit := broadcast("scanCase", 0x20)
	powers := GLOBL("scanPowers", RODATA|NOPTR)
	for i := range blockSize {
		DATA(i, U8(1<<(i%8)))
	}

	TEXT("runScanAVX512", NOSPLIT, signature)
	Doc("runScanAVX512 is Scan.Run.")
	Pragma("noescape")
	s := begin()
	end := AllocLocal(8)
	MOVQ(s.end, end)
	p := positions{all: ZMM(), base: ZMM()}
	VPBROADCASTW(s.base().As32(), p.base)
	VMOVDQU64(iota64, p.all)
	step, size := ZMM(), GP32()
	MOVL(U32(blockSize), size)
	VPBROADCASTW(size, step)
	classesLow, classesHigh, lower := ZMM(), ZMM(), ZMM()
	VMOVDQU64(classes, classesLow)
	VMOVDQU64(classes.Offset(64), classesHigh)
	VPBROADCASTB(caseBit, lower)

	CMPQ(s.source, end)
	JAE(LabelRef("done"))
	Label("block")
	text, folded, class := ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: s.source}, text)
	VPORQ(lower, text, folded)
	VMOVDQU64(folded, Mem{Base: s.folded})
	VMOVDQA64(text, class)
	VPERMI2B(classesHigh, classesLow, class)
	outside, letters := K(), K()
	VPMOVB2M(text, outside)
	VPMOVB2M(class, letters)
	KORTESTQ(outside, outside)
	JNE(LabelRef("wide"))

	tokens := GP64()
	KMOVQ(letters, tokens)
	starts, ends := s.bounds(tokens)
	p.store(starts, s.starts, 32)
	p.store(ends, s.ends, 33)
	VPADDW(step, p.base, p.base)
	ADDQ(Imm(blockSize), s.folded)
	ADDQ(Imm(blockSize), s.source)
	CMPQ(s.source, end)
	JB(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("wide")
	KANDNQ(letters, outside, letters)
	w := wide512{
		wide:    wide{state: s, ascii: letters, size: AllocLocal(8), move: func(mask, to Op) { KMOVQ(mask, to) }},
		text:    text,
		folded:  folded,
		outside: outside,
		powers:  powers,
	}
	starts, ends = w.write()
	VMOVDQU64(folded, Mem{Base: s.folded})
	p.store(starts, s.starts, 32)
	p.store(ends, s.ends, 33)
	taken, words := GP64(), ZMM()
	MOVQ(w.size, taken)
	VPBROADCASTW(taken.As32(), words)
	VPADDW(words, p.base, p.base)
	ADDQ(taken, s.folded)
	ADDQ(taken, s.source)
	CMPQ(s.source, end)
	JB(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("notTaken")
	KMOVQ(letters, tokens)
	stop(tokens)

	Label("done")
	s.finish()
}
