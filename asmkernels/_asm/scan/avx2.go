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
	constant := func(name string, b uint8) reg.VecVirtual {
		y := YMM()
		VPBROADCASTB(broadcast(name, b), y)
		return y
	}

	TEXT("runScanAVX2", NOSPLIT, signature)
	Doc("runScanAVX2 is Scan.Run.")
	Pragma("noescape")
	s := begin()
	base, step := XMM(), XMM()
	VMOVD(s.base().As32(), base)
	VPBROADCASTW(base, base)
	VPBROADCASTW(eight, step)
	table := GP64()
	LEAQ(bitPositions, table)
	caseBit := constant("scanCaseBit", 0x20)
	firstLetter, otherLetters := constant("scanFirstLetter", 'a'), constant("scanLetters", 'z'-'a')
	firstDigit, otherDigits := constant("scanFirstDigit", '0'), constant("scanDigits", '9'-'0')

	CMPQ(s.source, s.end)
	JAE(LabelRef("done"))
	Label("block")
	wide, tokens := GP64(), GP64()
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
			VPMOVMSKB(text, wide.As32())
			VPMOVMSKB(alphabetic, tokens.As32())
			continue
		}
		mask := GP64()
		VPMOVMSKB(text, mask.As32())
		ORQ(mask, wide)
		VPMOVMSKB(alphabetic, mask.As32())
		SHLQ(Imm(32), mask)
		ORQ(mask, tokens)
	}
	TESTQ(wide, wide)
	JNE(LabelRef("wide"))

	starts, ends := s.bounds(tokens)
	for range 8 {
		for _, list := range []struct {
			mask reg.GPVirtual
			at   reg.Register
		}{{starts, s.starts}, {ends, s.ends}} {
			part, found := GP64(), XMM()
			MOVBLZX(list.mask.As8(), part.As32())
			SHRQ(Imm(8), list.mask)
			VPMOVZXBW(Mem{Base: table, Index: part, Scale: 8}, found)
			VPADDW(base, found, found)
			VMOVDQU(found, Mem{Base: list.at})
			POPCNTL(part.As32(), part.As32())
			LEAQ(Mem{Base: list.at, Index: part, Scale: 2}, list.at)
		}
		VPADDW(step, base, base)
	}
	ADDQ(Imm(blockSize), s.folded)
	ADDQ(Imm(blockSize), s.source)
	CMPQ(s.source, s.end)
	JB(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("wide")
	stop(tokens)

	Label("done")
	s.finish()
}
