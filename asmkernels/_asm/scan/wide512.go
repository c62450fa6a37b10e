package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where the fields of Classes begin.
const (
	letterBits      = 0
	markBits        = letterBits + 0x800/8
	specialBits     = markBits + 0x800/8
	pagesOfSolos    = specialBits + 0x800/8
	pagesOfLetters  = pagesOfSolos + 1024/8
	lowerHead       = pagesOfLetters + 1024/8
	lowerTail       = lowerHead + 32*64
	pageTable       = lowerTail + 32*64
	pageRecordShift = 5 // a record of the page table has 32 bytes
)

// wide512 writes the way of a block with code points outside of ASCII.
type wide512 struct {
	state
	positions

	text, folded reg.VecVirtual // the block, and with ASCII folded
	wide, ascii  reg.Register   // masks of the bytes outside of ASCII, and of the letters in it

	next, after   reg.VecVirtual // the bytes one and two further on
	index         reg.VecVirtual // head<<3 | next>>3, which is also the number of eight pages modulo 128
	bit           reg.VecVirtual // 1 << next%8
	two, three    reg.Register   // masks of the heads of two and three bytes
	size          Mem            // bytes to take
	powers        Mem
	letters       reg.GPVirtual // masks of heads
	marks, solos  reg.GPVirtual
	notTaken      string // label
	constant      func(name string, b uint8) Mem
}

func classesAt(offset int) Mem {
	return Mem{Base: Load(Param("classes"), GP64()), Disp: offset}
}

// write writes all of it, up to the bounds of tokens in masks.
func (w *wide512) write() (starts, ends reg.GPVirtual) {
	w.next, w.after = ZMM(), ZMM()
	VMOVDQU64(Mem{Base: w.source, Disp: 1}, w.next)
	VMOVDQU64(Mem{Base: w.source, Disp: 2}, w.after)
	VMOVDQU8(w.text, w.wide, w.folded)
	w.findHeads()

	headBits, shifted := ZMM(), ZMM()
	w.index, w.bit = ZMM(), ZMM()
	VPSLLW(Imm(3), w.text, w.index)
	VPSRLW(Imm(3), w.next, shifted)
	VPBROADCASTB(w.constant("scanHeadBits", 0xf8), headBits)
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

// findHeads finds the first bytes of code points and how much of the block to
// take: all but a code point that reaches into the next one. Here invalid UTF-8
// is noticed, apart from what has too many bytes for its code point.
func (w *wide512) findHeads() {
	atLeast := func(name string, b uint8) reg.Register {
		limit, k := ZMM(), K()
		VPBROADCASTB(w.constant(name, b), limit)
		VPCMPUB(Imm(5), limit, w.text, k) // not less
		return k
	}
	four := atLeast("scanFour", 0xf0)
	KORTESTQ(four, four)
	JNZ(LabelRef(w.notTaken))
	w.three = atLeast("scanThree", 0xe0)
	head := atLeast("scanTwo", 0xc0)
	heads, threes, wides := GP64(), GP64(), GP64()
	KMOVQ(head, heads)
	KMOVQ(w.three, threes)
	KMOVQ(w.wide, wides)

	cut, part, taken := GP64(), GP64(), GP64()
	MOVQ(threes, cut)
	SHRQ(Imm(62), cut)
	SHLQ(Imm(62), cut)
	MOVQ(heads, part)
	SHRQ(Imm(63), part)
	SHLQ(Imm(63), part)
	ORQ(part, cut)
	TZCNTQ(cut, cut) // 64 if there is nothing to cut
	MOVQ(cut, w.size)
	MOVQ(I32(-1), taken)
	BZHIQ(cut, taken, taken)
	ANDQ(taken, heads)
	ANDQ(taken, threes)
	ANDQ(taken, wides)

	// The bytes that are not heads follow heads.
	tails := GP64()
	ANDNQ(wides, heads, wides)
	LEAQ(Mem{Base: heads, Index: heads, Scale: 1}, tails)
	MOVQ(threes, part)
	SHLQ(Imm(2), part)
	ORQ(part, tails)
	CMPQ(tails, wides)
	JNE(LabelRef(w.notTaken))
	ANDNQ(heads, threes, heads)
	w.two = K()
	KMOVQ(heads, w.two)
	KMOVQ(threes, w.three)
}

// member returns the mask of the heads among the given ones whose bit is set in
// the bitmap bytes.
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

// classifyTwo classifies the code points of two bytes and changes them to lower
// case.
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
	JNZ(LabelRef(w.notTaken))
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
	VPBROADCASTB(w.constant("scanSevens", 7), sevens)
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
	ANDL(Imm(15), head.As32())
	SHLL(Imm(6), head.As32())
	ANDL(Imm(63), second.As32())
	ORL(second.As32(), head.As32())
	SHLL(Imm(pageRecordShift), head.As32())
	page := classesAt(pageTable)
	ADDQ(page.Base, head)
	page.Base = head
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
			JNZ(LabelRef(w.notTaken))
		} else {
			KMOVQ(members, found)
			ORQ(found, to.mask)
		}
		Label(to.next)
	}
	TESTQ(mixed, mixed)
	JNZ(LabelRef("page"))
}

// findBounds turns the masks of heads into the masks of the starts and ends of
// tokens, and updates open and closed.
func (w *wide512) findBounds() (starts, ends reg.GPVirtual) {
	// From the heads to all bytes: no sum here carries.
	spread := func(heads reg.GPVirtual) {
		two, three := GP64(), GP64()
		KMOVQ(w.two, two)
		KMOVQ(w.three, three)
		ANDQ(heads, two)
		ANDQ(heads, three)
		LEAQ(Mem{Base: two, Index: two, Scale: 2}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 1}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 2}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 4}, heads)
	}
	tokens, scratch := GP64(), GP64()
	KMOVQ(w.ascii, tokens)
	spread(w.letters)
	ORQ(w.letters, tokens)
	spread(w.marks)

	// A run of marks belongs to a token if it follows a letter. The others are
	// found by adding their first bit: the carry runs through to their end and
	// leaves zeros.
	ORQ(w.marks, tokens)
	MOVQ(tokens, scratch)
	SHLQ(Imm(1), scratch)
	before := GP64()
	ANDNQ(w.open, w.closed, before)
	ORQ(before, scratch)
	ANDNQ(w.marks, scratch, scratch)
	ADDQ(w.marks, scratch)
	ANDNQ(w.marks, scratch, scratch) // the stray ones
	ANDNQ(tokens, scratch, tokens)

	// A solo ends before its head and behind its last byte.
	boundaries := w.marks
	heads := GP64()
	MOVQ(w.solos, boundaries)
	spread(w.solos)
	ORQ(w.solos, tokens)
	LEAQ(Mem{Base: w.solos, Index: w.solos, Scale: 1}, heads)
	ANDNQ(heads, w.solos, heads)
	ORQ(heads, boundaries)
	ORQ(w.closed, boundaries)

	size, taken := GP64(), GP64()
	MOVQ(w.size, size)
	MOVQ(I32(-1), taken)
	BZHIQ(size, taken, taken)
	ANDQ(taken, tokens)
	LEAQ(Mem{Base: w.open, Index: tokens, Scale: 2}, before)
	starts, ends = GP64(), GP64()
	ANDNQ(before, boundaries, starts)
	ANDNQ(tokens, starts, starts)
	ANDNQ(tokens, boundaries, ends)
	ANDNQ(before, ends, ends)
	ANDQ(taken, ends)

	DECQ(size)
	SHRXQ(size, tokens, w.open)
	ANDQ(Imm(1), w.open)
	SHRXQ(size, w.solos, w.closed)
	ANDQ(Imm(1), w.closed)
	return starts, ends
}
