package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide512 writes the way of a block with code points outside of ASCII.
type wide512 struct {
	wide

	text, folded reg.VecVirtual // the block, and with ASCII folded
	outside      reg.Register   // mask of the bytes outside of ASCII
	next, after  reg.VecVirtual // the bytes one and two further on
	index        reg.VecVirtual // head<<3 | next>>3, which is also the number of eight pages modulo 128
	bit          reg.VecVirtual // 1 << next%8
	powers       Mem            // 1 << i%8 in 64 bytes
	two, three   reg.Register   // the masks of that name
}

// write writes all of it, up to the bounds of tokens in masks.
func (w *wide512) write() (starts, ends reg.GPVirtual) {
	w.next, w.after = ZMM(), ZMM()
	VMOVDQU64(Mem{Base: w.source, Disp: 1}, w.next)
	VMOVDQU64(Mem{Base: w.source, Disp: 2}, w.after)
	VMOVDQU8(w.text, w.outside, w.folded)
	w.findHeads()

	headBits, shifted := ZMM(), ZMM()
	w.index, w.bit = ZMM(), ZMM()
	VPSLLW(Imm(3), w.text, w.index)
	VPSRLW(Imm(3), w.next, shifted)
	VPBROADCASTB(broadcast("scanHeadBits", 0xf8), headBits)
	// headBits choose w.index, the others shifted.
	VPTERNLOGQ(U8(0xca), shifted, w.index, headBits)
	w.index = headBits
	VMOVDQU64(w.powers, w.bit)
	VPERMB(w.bit, w.next, w.bit)

	w.letters, w.marks, w.solos = GP64(), GP64(), GP64()
	for _, mask := range []reg.GPVirtual{w.letters, w.marks, w.solos} {
		XORL(mask.As32(), mask.As32())
	}
	KORTESTQ(w.two, w.two)
	JZ(LabelRef("threeBytes"))
	w.classifyTwo()
	Label("threeBytes")
	KORTESTQ(w.three, w.three)
	JZ(LabelRef("classified"))
	w.classifyThree()
	Label("classified")
	return w.findBounds()
}

// findHeads finds the heads of two and three bytes.
func (w *wide512) findHeads() {
	atLeast := func(name string, b uint8) reg.Register {
		limit, k := ZMM(), K()
		VPBROADCASTB(broadcast(name, b), limit)
		VPCMPUB(Imm(5), limit, w.text, k) // not less
		return k
	}
	four := atLeast("scanFour", 0xf0)
	KORTESTQ(four, four)
	JNZ(LabelRef("notTaken"))
	heads, threes, outside := GP64(), GP64(), GP64()
	KMOVQ(atLeast("scanTwo", 0xc0), heads)
	KMOVQ(atLeast("scanThree", 0xe0), threes)
	KMOVQ(w.outside, outside)
	w.cut(heads, threes, outside)
	w.two, w.three = K(), K()
	ANDNQ(heads, threes, heads)
	KMOVQ(heads, w.two)
	KMOVQ(threes, w.three)
	w.wide.two, w.wide.three = w.two, w.three
}

// member returns the mask of the heads among the given ones whose bit is set in the bitmap bytes.
func (w *wide512) member(bytes reg.VecVirtual, heads reg.Register) reg.Register {
	k := K()
	VPTESTMB(w.bit, bytes, heads, k)
	return k
}

// halfBitmap looks 7 bits of index up in 128 bytes of Classes.
func (w *wide512) halfBitmap(offset int) reg.VecVirtual {
	bytes, low := ZMM(), ZMM()
	classes := classesAt(offset)
	VMOVDQU64(classes, low)
	VMOVDQA64(w.index, bytes)
	VPERMI2B(classes.Offset(64), low, bytes)
	return bytes
}

// bitmap looks index up in 256 bytes of Classes.
func (w *wide512) bitmap(offset int, high reg.Register) reg.VecVirtual {
	low, bytes := w.halfBitmap(offset), w.halfBitmap(offset+128)
	VPBLENDMB(bytes, low, high, bytes)
	return bytes
}

// classifyTwo classifies the code points of two bytes and changes them to lower case.
func (w *wide512) classifyTwo() {
	high := K()
	VPMOVB2M(w.index, high)
	KMOVQ(w.member(w.bitmap(letterBits, high), w.two), w.letters)
	KMOVQ(w.member(w.bitmap(markBits, high), w.two), w.marks)
	special := w.member(w.bitmap(specialBits, high), w.two)
	left := GP64()
	KMOVQ(special, left)
	TESTQ(left, left)
	JZ(LabelRef("threeBytes"))

	// A loop over the different heads: most blocks are of one alphabet.
	Label("special")
	head, same, heads, tails := GP64(), ZMM(), K(), K()
	TZCNTQ(left, head)
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1}, head.As32())
	VPBROADCASTB(head.As32(), same)
	VPCMPEQB(same, w.text, special, heads)
	KADDQ(heads, heads, tails)
	found := GP64()
	KMOVQ(heads, found)
	ANDNQ(left, found, left)
	ANDL(Imm(31), head.As32())
	SHLL(Imm(6), head.As32())
	row := classesAt(0)
	ADDQ(row.Base, head)
	tail, unknown := ZMM(), K()
	VMOVDQU64(Mem{Base: head, Disp: lowerTail}, tail)
	VPERMB_Z(tail, w.text, tails, tail)
	VPTESTNMB(tail, tail, tails, unknown)
	KORTESTQ(unknown, unknown)
	JNZ(LabelRef("notTaken"))
	VMOVDQU8(tail, tails, w.folded)
	VMOVDQU64(Mem{Base: head, Disp: lowerHead}, tail)
	VPERMB(tail, w.next, heads, w.folded)
	TESTQ(left, left)
	JNZ(LabelRef("special"))
}

// classifyThree classifies the code points of three bytes.
func (w *wide512) classifyThree() {
	mixed, letters, solos := GP64(), GP64(), GP64()
	KMOVQ(w.member(w.halfBitmap(pagesOfSolos), w.three), solos)
	KMOVQ(w.member(w.halfBitmap(pagesOfLetters), w.three), letters)
	KMOVQ(w.three, mixed)
	ANDNQ(mixed, solos, mixed)
	ANDNQ(mixed, letters, mixed)
	ANDNQ(solos, letters, w.solos)
	ANDNQ(letters, solos, letters)
	ORQ(letters, w.letters)
	TESTQ(mixed, mixed)
	JZ(LabelRef("classified"))

	// A loop over the different pages that are not all of a kind.
	index, bit, sevens := ZMM(), ZMM(), ZMM()
	VPSRLW(Imm(3), w.after, index)
	VPBROADCASTB(broadcast("scanSevens", 7), sevens)
	VPANDQ(sevens, index, index)
	VMOVDQU64(w.powers, bit)
	VPERMB(bit, w.after, bit)
	Label("page")
	head, second, same, heads := GP64(), GP64(), ZMM(), K()
	TZCNTQ(mixed, head)
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1, Disp: 1}, second.As32())
	MOVBLZX(Mem{Base: w.source, Index: head, Scale: 1}, head.As32())
	VPBROADCASTB(head.As32(), same)
	VPCMPEQB(same, w.text, w.three, heads)
	VPBROADCASTB(second.As32(), same)
	VPCMPEQB(same, w.next, heads, heads)
	page := w.page(head, second)
	found := GP64()
	KMOVQ(heads, found)
	ANDNQ(mixed, found, mixed)

	bitmap, members := ZMM(), K()
	for i, to := range []struct {
		next string
		mask reg.GPVirtual
	}{{"pageMarks", w.letters}, {"pageSolos", w.marks}, {"pageCare", w.solos}, {"pageDone", nil}} {
		CMPQ(page.Offset(8*i), Imm(0))
		JE(LabelRef(to.next))
		VPBROADCASTQ(page.Offset(8*i), bitmap)
		VPSHUFB(index, bitmap, bitmap)
		VPTESTMB(bit, bitmap, heads, members)
		if to.mask == nil {
			KORTESTQ(members, members)
			JNZ(LabelRef("notTaken"))
		} else {
			KMOVQ(members, found)
			ORQ(found, to.mask)
		}
		Label(to.next)
	}
	TESTQ(mixed, mixed)
	JNZ(LabelRef("page"))
}
