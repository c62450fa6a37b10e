package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx2() {
	// bitPositions holds the positions of the bits of every byte.
	bitPositions := GLOBL("scanBits", RODATA|NOPTR)
	for b := range 256 {
		var list uint64
		for i, rest := 0, uint8(b); rest != 0; i, rest = i+1, rest&(rest-1) {
			list |= uint64(bits.TrailingZeros8(rest)) << (8 * i)
		}
		DATA(8*b, U64(list))
	}
	eight := GLOBL("scanEight", RODATA|NOPTR)
	DATA(0, U16(8))
	constant := func(name string, b uint8) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 32 {
			DATA(i, U8(b))
		}
		return m
	}
	caseBit := constant("scanCaseBit", 0x20)
	firstLetter, otherLetters := constant("scanFirstLetter", 'a'), constant("scanLetters", 'z'-'a')
	firstDigit, otherDigits := constant("scanFirstDigit", '0'), constant("scanDigits", '9'-'0')
	powers := GLOBL("scanHalfPowers", RODATA|NOPTR)
	for i := range 16 {
		DATA(i, U8(1<<(i%8)))
	}

	TEXT("runScanAVX2", NOSPLIT, signature)
	Doc("runScanAVX2 is Scan.Run.")
	Pragma("noescape")
	s := begin()
	end := AllocLocal(8)
	MOVQ(s.end, end)
	base, eights, step := XMM(), XMM(), XMM()
	VMOVD(s.base().As32(), base)
	VPBROADCASTW(base, base)
	VPBROADCASTW(eight, eights)
	VPSLLW(Imm(3), eights, step)
	// store writes the positions of the bits of starts and ends down, those of eight bits at a time.
	store := func(starts, ends reg.GPVirtual) {
		at, table := XMM(), GP64()
		VMOVDQA(base, at)
		LEAQ(bitPositions, table)
		for range 8 {
			for _, list := range []struct {
				mask reg.GPVirtual
				at   reg.Register
			}{{starts, s.starts}, {ends, s.ends}} {
				part, found := GP64(), XMM()
				MOVBLZX(list.mask.As8(), part.As32())
				SHRQ(Imm(8), list.mask)
				VPMOVZXBW(Mem{Base: table, Index: part, Scale: 8}, found)
				VPADDW(at, found, found)
				VMOVDQU(found, Mem{Base: list.at})
				POPCNTL(part.As32(), part.As32())
				LEAQ(Mem{Base: list.at, Index: part, Scale: 2}, list.at)
			}
			VPADDW(eights, at, at)
		}
	}

	CMPQ(s.source, end)
	JAE(LabelRef("done"))
	Label("block")
	outside, tokens := GP64(), GP64()
	for half := range 2 {
		text, folded := YMM(), YMM()
		VMOVDQU(Mem{Base: s.source, Disp: 32 * half}, text)
		VPOR(caseBit, text, folded)
		VMOVDQU(folded, Mem{Base: s.folded, Disp: 32 * half})
		alphabetic, numeric, least := YMM(), YMM(), YMM()
		VPSUBB(firstLetter, folded, alphabetic)
		VPMINUB(otherLetters, alphabetic, least)
		VPCMPEQB(least, alphabetic, alphabetic)
		VPSUBB(firstDigit, text, numeric)
		VPMINUB(otherDigits, numeric, least)
		VPCMPEQB(least, numeric, numeric)
		VPOR(numeric, alphabetic, alphabetic)
		if half == 0 {
			VPMOVMSKB(text, outside.As32())
			VPMOVMSKB(alphabetic, tokens.As32())
			continue
		}
		mask := GP64()
		VPMOVMSKB(text, mask.As32())
		SHLQ(Imm(32), mask)
		ORQ(mask, outside)
		VPMOVMSKB(alphabetic, mask.As32())
		SHLQ(Imm(32), mask)
		ORQ(mask, tokens)
	}
	TESTQ(outside, outside)
	JNE(LabelRef("wide"))

	starts, ends := s.bounds(tokens)
	store(starts, ends)
	VPADDW(step, base, base)
	ADDQ(Imm(blockSize), s.folded)
	ADDQ(Imm(blockSize), s.source)
	CMPQ(s.source, end)
	JB(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("wide")
	ascii := AllocLocal(8)
	MOVQ(tokens, ascii)
	w := wide256{
		wide: wide{
			state: s,
			ascii: ascii,
			two:   AllocLocal(8),
			three: AllocLocal(8),
			size:  AllocLocal(8),
			move:  func(mask, to Op) { MOVQ(mask, to) },
		},
		powers: powers,
	}
	starts, ends = w.write(outside)
	store(starts, ends)
	taken, words := GP64(), XMM()
	MOVQ(w.size, taken)
	VMOVD(taken.As32(), words)
	VPBROADCASTW(words, words)
	VPADDW(words, base, base)
	ADDQ(taken, s.folded)
	ADDQ(taken, s.source)
	CMPQ(s.source, end)
	JB(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("notTaken")
	w.restore()
	MOVQ(ascii, tokens)
	stop(tokens)

	Label("done")
	s.finish()
}
