package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A halved is a block of 64 bytes, or something for each of them.
type halved [2]reg.VecVirtual

// halves writes f for each half of a block.
func halves(f func(half int) reg.VecVirtual) halved { return halved{f(0), f(1)} }

// mask returns the high bits of the bytes.
func (h halved) mask() reg.GPVirtual {
	low, high := GP64(), GP64()
	VPMOVMSKB(h[0], low.As32())
	VPMOVMSKB(h[1], high.As32())
	SHLQ(Imm(32), high)
	ORQ(high, low)
	return low
}

// wide256 writes the way of a block with code points outside of ASCII. Letters
// that change are changed one by one in memory, where the block is already.
type wide256 struct {
	wide
	powers Mem // 1 << i%8 in 16 bytes

	kept        []Mem  // where bounds stay meanwhile
	index, bits halved // b/8%8 and 1 << b%8 of the byte b that follows every byte
}

// keep moves what is not needed for now to memory, so that there are registers enough.
func (w *wide256) keep() {
	for _, value := range w.bounds() {
		m := AllocLocal(8)
		MOVQ(value, m)
		w.kept = append(w.kept, m)
	}
}

// restore undoes keep.
func (w *wide256) restore() {
	for i, value := range w.bounds() {
		MOVQ(w.kept[i], value)
	}
}

func (w *wide256) bounds() []reg.Register {
	return []reg.Register{w.starts, w.ends, w.open, w.closed}
}

// at returns a half of the block that begins the given number of bytes further on.
func (w *wide256) at(half, further int) Mem {
	return Mem{Base: w.source, Disp: 32*half + further}
}

// write writes all of it, up to the bounds of tokens in masks.
func (w *wide256) write(outside reg.GPVirtual) (starts, ends reg.GPVirtual) {
	for half := range 2 {
		// What is outside of ASCII stays as it is.
		text, folded := YMM(), YMM()
		VMOVDQU(w.at(half, 0), text)
		VMOVDQU(Mem{Base: w.folded, Disp: 32 * half}, folded)
		VPBLENDVB(text, text, folded, folded)
		VMOVDQU(folded, Mem{Base: w.folded, Disp: 32 * half})
	}
	w.keep()
	left := w.findHeads(outside)
	w.letters, w.marks, w.solos = GP64(), GP64(), GP64()
	for _, mask := range []reg.GPVirtual{w.letters, w.marks, w.solos} {
		XORL(mask.As32(), mask.As32())
	}
	mixed := GP64()
	XORL(mixed.As32(), mixed.As32())
	w.indexTails(1)

	// A loop over the different heads: most blocks are of one alphabet.
	Label("head")
	head, found := GP64(), GP64()
	TZCNTQ(left, head)
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1}, head.As32())
	w.equal(head, 0, left, found)
	XORQ(found, left)
	CMPL(head.As32(), U32(0xe0))
	JB(LabelRef("twoBytes"))
	w.classifyThree(head, found, mixed)
	JMP(LabelRef("headDone"))
	Label("twoBytes")
	w.classifyTwo(head, found)
	Label("headDone")
	TESTQ(left, left)
	JNZ(LabelRef("head"))
	TESTQ(mixed, mixed)
	JZ(LabelRef("classified"))
	w.classifyMixed(mixed)
	Label("classified")
	w.restore()
	return w.findBounds()
}

// findHeads finds the heads of two and three bytes and returns the mask of both.
func (w *wide256) findHeads(outside reg.GPVirtual) reg.GPVirtual {
	// Bytes outside of ASCII are negative.
	above := func(name string, b uint8) reg.GPVirtual {
		limit := YMM()
		VPBROADCASTB(broadcast(name, b), limit)
		return halves(func(half int) reg.VecVirtual {
			v := YMM()
			VMOVDQU(w.at(half, 0), v)
			VPCMPGTB(limit, v, v)
			return v
		}).mask()
	}
	four := above("scanBelowFour", 0xef)
	TESTQ(outside, four)
	JNZ(LabelRef("notTaken"))
	heads, threes := above("scanBelowTwo", 0xbf), above("scanBelowThree", 0xdf)
	ANDQ(outside, heads)
	ANDQ(outside, threes)
	w.cut(heads, threes, outside)
	two := GP64()
	ANDNQ(heads, threes, two)
	MOVQ(two, w.two)
	MOVQ(threes, w.three)
	return heads
}

// indexTails sets index and bits for the bytes that are the given number of bytes further on.
func (w *wide256) indexTails(further int) {
	sevens, powers := YMM(), YMM()
	VPBROADCASTB(broadcast("scanSevens", 7), sevens)
	VBROADCASTI128(w.powers, powers)
	w.index = halves(func(half int) reg.VecVirtual {
		v := YMM()
		VMOVDQU(w.at(half, further), v)
		VPSRLW(Imm(3), v, v)
		VPAND(sevens, v, v)
		return v
	})
	w.bits = halves(func(half int) reg.VecVirtual {
		v := YMM()
		VPAND(w.at(half, further), sevens, v)
		VPSHUFB(v, powers, v)
		return v
	})
}

// equal sets found to the mask of those in among for which the byte the given number of bytes further on is value.
func (w *wide256) equal(value reg.GPVirtual, further int, among, found reg.GPVirtual) {
	same := YMM()
	VMOVD(value.As32(), same.AsX())
	VPBROADCASTB(same.AsX(), same)
	mask := halves(func(half int) reg.VecVirtual {
		v := YMM()
		VPCMPEQB(w.at(half, further), same, v)
		return v
	}).mask()
	ANDQ(among, mask)
	MOVQ(mask, found)
}

// members returns the mask of those in among whose bit is set in the eight bytes of bitmap.
func (w *wide256) members(bitmap Mem, among reg.GPVirtual) reg.GPVirtual {
	bytes := YMM()
	VPBROADCASTQ(bitmap, bytes)
	mask := halves(func(half int) reg.VecVirtual {
		v := YMM()
		VPSHUFB(w.index[half], bytes, v)
		VPAND(w.bits[half], v, v)
		VPCMPEQB(w.bits[half], v, v)
		return v
	}).mask()
	ANDQ(among, mask)
	return mask
}

// classifyTwo classifies the code points of two bytes with the given head, of
// which found is the mask, and changes them to lower case.
func (w *wide256) classifyTwo(head, found reg.GPVirtual) {
	ANDL(Imm(31), head.As32())
	row := GP64()
	LEAQ(Mem{Base: classesAt(0).Base, Index: head, Scale: 8}, row)
	bitmap := func(offset int) Mem { return Mem{Base: row, Disp: offset} }

	CMPQ(bitmap(letterBits), I8(-1))
	JNE(LabelRef("someLetters"))
	ORQ(found, w.letters)
	JMP(LabelRef("special"))
	Label("someLetters")
	ORQ(w.members(bitmap(letterBits), found), w.letters)
	CMPQ(bitmap(markBits), Imm(0))
	JE(LabelRef("special"))
	ORQ(w.members(bitmap(markBits), found), w.marks)

	Label("special")
	CMPQ(bitmap(specialBits), Imm(0))
	JE(LabelRef("headDone"))
	special := w.members(bitmap(specialBits), found)
	JZ(LabelRef("headDone")) // of members' last step
	SHLL(Imm(6), head.As32())
	ADDQ(classesAt(0).Base, head)
	Label("lower")
	at, tail, lower := GP64(), GP64(), GP64()
	TZCNTQ(special, at)
	MOVBLZX(Mem{Base: w.source, Index: at, Scale: 1, Disp: 1}, tail.As32())
	ANDL(Imm(63), tail.As32())
	ADDQ(head, tail)
	MOVBLZX(Mem{Base: tail, Disp: lowerTail}, lower.As32())
	TESTL(lower.As32(), lower.As32())
	JZ(LabelRef("notTaken"))
	MOVB(lower.As8(), Mem{Base: w.folded, Index: at, Scale: 1, Disp: 1})
	MOVBLZX(Mem{Base: tail, Disp: lowerHead}, lower.As32())
	MOVB(lower.As8(), Mem{Base: w.folded, Index: at, Scale: 1})
	BLSRQ(special, special)
	JNZ(LabelRef("lower"))
	JMP(LabelRef("headDone"))
}

// classifyThree classifies the code points of three bytes with the given head
// whose pages are of one kind, and adds the others to mixed.
func (w *wide256) classifyThree(head, found, mixed reg.GPVirtual) {
	ANDL(Imm(15), head.As32())
	row := GP64()
	LEAQ(Mem{Base: classesAt(0).Base, Index: head, Scale: 8}, row)
	solos := w.members(Mem{Base: row, Disp: pagesOfSolos}, found)
	letters := w.members(Mem{Base: row, Disp: pagesOfLetters}, found)
	kind := GP64()
	ANDNQ(solos, letters, kind)
	ORQ(kind, w.solos)
	ANDNQ(letters, solos, kind)
	ORQ(kind, w.letters)
	ORQ(letters, solos)
	ANDNQ(found, solos, found)
	ORQ(found, mixed)
}

// classifyMixed classifies the code points of three bytes of other pages.
func (w *wide256) classifyMixed(mixed reg.GPVirtual) {
	w.indexTails(2)
	Label("page")
	head, second, found := GP64(), GP64(), GP64()
	TZCNTQ(mixed, head)
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1, Disp: 1}, second.As32())
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1}, head.As32())
	w.equal(head, 0, mixed, found)
	w.equal(second, 1, found, found)
	XORQ(found, mixed)
	page := w.page(head, second)
	for i, to := range []struct {
		next string
		mask reg.GPVirtual
	}{{"pageMarks", w.letters}, {"pageSolos", w.marks}, {"pageCare", w.solos}, {"pageDone", nil}} {
		CMPQ(page.Offset(8*i), Imm(0))
		JE(LabelRef(to.next))
		members := w.members(page.Offset(8*i), found)
		if to.mask == nil {
			JNZ(LabelRef("notTaken")) // of members' last step
		} else {
			ORQ(members, to.mask)
		}
		Label(to.next)
	}
	TESTQ(mixed, mixed)
	JNZ(LabelRef("page"))
}
