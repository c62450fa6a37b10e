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

// classesAt returns where in Classes an offset is.
func classesAt(offset int) Mem {
	return Mem{Base: Load(Param("classes"), GP64()), Disp: offset}
}

// wide is what both tiers have in common of the way of a block with code points outside of ASCII. Masks have a bit for
// every byte of the block. A head is the first byte of a code point outside of ASCII.
type wide struct {
	state
	ascii      Op                // mask of the letters and digits in ASCII
	two, three Op                // masks of the heads of two and three bytes
	move       func(mask, to Op) // loads one of these
	size       Mem               // number of bytes to take

	letters, marks, solos reg.GPVirtual // masks of heads
}

// cut sets the number of bytes to take, all but a code point that reaches into the next block, and removes what is
// behind them from the masks of all heads, of those of three bytes and of all bytes outside of ASCII. Here invalid
// UTF-8 is noticed, apart from what has too many bytes for its code point.
func (w *wide) cut(heads, threes, outside reg.GPVirtual) {
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
	ANDQ(taken, outside)

	// The bytes that are not heads follow heads.
	tails := GP64()
	ANDNQ(outside, heads, outside)
	LEAQ(Mem{Base: heads, Index: heads, Scale: 1}, tails)
	MOVQ(threes, part)
	SHLQ(Imm(2), part)
	ORQ(part, tails)
	CMPQ(tails, outside)
	JNE(LabelRef("notTaken"))
}

// page returns the address of the page of code points of three bytes with the given first two.
func (w *wide) page(first, second reg.GPVirtual) Mem {
	ANDL(Imm(15), first.As32())
	SHLL(Imm(6), first.As32())
	ANDL(Imm(63), second.As32())
	ORL(second.As32(), first.As32())
	SHLL(Imm(pageRecordShift), first.As32())
	page := classesAt(pageTable)
	ADDQ(page.Base, first)
	page.Base = first
	return page
}

// findBounds turns the masks of heads into the masks of the starts and ends of tokens, and updates open and closed.
func (w *wide) findBounds() (starts, ends reg.GPVirtual) {
	// From the heads to all bytes: no sum here carries.
	spread := func(heads reg.GPVirtual) {
		two, three := GP64(), GP64()
		w.move(w.two, two)
		w.move(w.three, three)
		ANDQ(heads, two)
		ANDQ(heads, three)
		LEAQ(Mem{Base: two, Index: two, Scale: 2}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 1}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 2}, two)
		LEAQ(Mem{Base: two, Index: three, Scale: 4}, heads)
	}
	tokens, scratch, boundaries := GP64(), GP64(), GP64()
	w.move(w.ascii, tokens)
	spread(w.letters)
	ORQ(w.letters, tokens)
	MOVQ(w.closed, boundaries)
	MOVQ(w.marks, scratch)
	ORQ(w.solos, scratch)
	JZ(LabelRef("onlyLetters"))

	// A run of marks belongs to a token if it follows a letter. The others are found by adding their first bit: the
	// carry runs through to their end and leaves zeros.
	spread(w.marks)
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
	ORQ(w.solos, boundaries)
	spread(w.solos)
	ORQ(w.solos, tokens)
	LEAQ(Mem{Base: w.solos, Index: w.solos, Scale: 1}, scratch)
	ANDNQ(scratch, w.solos, scratch)
	ORQ(scratch, boundaries)
	Label("onlyLetters")

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
