package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The layout of a bitmap query and a bitmap block of package asmkernels, whose
// tests compare the kernels with the plain code.
const (
	bitmapWords  = 8
	blockLanes   = 8
	blockWords   = (bitmapWords + 2) * blockLanes
	inCollisions = bitmapWords     // the number of a row
	inSize       = bitmapWords + 1 // the number of a row
	inSlope      = bitmapWords + 2 // the number of a word of the query
	inMost       = bitmapWords + 3 // the number of a word of the query
)

// A bounder computes the bounds of a block, lanes at a time.
type bounder struct {
	tier   string
	lanes  int
	vector func() reg.VecVirtual
	and    func(a, b, to Op)

	// prepare sets registers that are needed all the time.
	prepare func()

	// ones adds the bits of the words that are set to sum, total turns the sum into one for each word.
	ones  func(words, sum reg.VecVirtual, first bool)
	total func(sum reg.VecVirtual) reg.VecVirtual

	minimum func(a, b, to reg.VecVirtual)

	// reached returns a bit for every lane in which bound is not below need.
	reached func(bound, need reg.VecVirtual) reg.GPVirtual
}

// write writes markBitmaps.
func (t bounder) write() {
	name := "markBitmaps" + t.tier
	TEXT(name, NOSPLIT, "func(marks []uint8, query *[12]uint64, blocks []uint64)")
	Doc(name + " is markBitmapsGo for one block or more.")
	Pragma("noescape")
	query := Load(Param("query"), GP64())
	marks := Load(Param("marks").Base(), GP64())
	blocks := Load(Param("blocks").Base(), GP64())
	end := Load(Param("blocks").Len(), GP64())
	LEAQ(Mem{Base: blocks, Index: end, Scale: 8}, end)
	t.prepare()
	// What has no room in registers is read again for every block.
	var words [bitmapWords + 4]Op
	for i := range words {
		words[i] = Mem{Base: query, Disp: 8 * i}
		if t.lanes == 8 || i < 4 {
			words[i] = t.vector()
			VPBROADCASTQ(Mem{Base: query, Disp: 8 * i}, words[i])
		}
	}
	word := func(i int) reg.VecVirtual {
		if v, ok := words[i].(reg.VecVirtual); ok {
			return v
		}
		v := t.vector()
		VPBROADCASTQ(words[i], v)
		return v
	}

	Label("block")
	mark := GP64()
	for part := range blockLanes / t.lanes {
		row := func(i int) Mem { return Mem{Base: blocks, Disp: 8 * (i*blockLanes + part*t.lanes)} }
		sums := [2]reg.VecVirtual{t.vector(), t.vector()}
		for i := range bitmapWords {
			both := t.vector()
			t.and(row(i), word(i), both)
			t.ones(both, sums[i%2], i < 2)
		}
		VPADDQ(sums[1], sums[0], sums[0])
		bound := t.total(sums[0])
		collisions, need := t.vector(), t.vector()
		t.load(row(inCollisions), collisions)
		t.minimum(word(inCollisions), collisions, collisions)
		VPADDQ(collisions, bound, bound)
		VPADDQ(row(inSize), word(inSize), need)
		VPMULUDQ(word(inSlope), need, need)
		VPSRLQ(Imm(16), need, need)
		t.minimum(word(inMost), need, need)
		reached := t.reached(bound, need)
		if part == 0 {
			MOVQ(reached, mark)
		} else {
			SHLQ(Imm(uint64(part*t.lanes)), reached)
			ORQ(reached, mark)
		}
	}
	MOVB(mark.As8(), Mem{Base: marks})
	INCQ(marks)
	ADDQ(U32(8*blockWords), blocks)
	CMPQ(blocks, end)
	JNE(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func (t bounder) load(from Mem, to reg.VecVirtual) {
	if t.lanes == 8 {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func boundsAVX512() bounder {
	return bounder{
		tier:    "AVX512",
		lanes:   8,
		vector:  ZMM,
		and:     func(a, b, to Op) { VPANDQ(a, b, to) },
		prepare: func() {},
		ones: func(words, sum reg.VecVirtual, first bool) {
			if first {
				VPOPCNTQ(words, sum)
				return
			}
			VPOPCNTQ(words, words)
			VPADDQ(words, sum, sum)
		},
		total:   func(sum reg.VecVirtual) reg.VecVirtual { return sum },
		minimum: func(a, b, to reg.VecVirtual) { VPMINUQ(a, b, to) },
		reached: func(bound, need reg.VecVirtual) reg.GPVirtual {
			const notBelow = 5
			mask, bits := K(), GP64()
			VPCMPUQ(Imm(notBelow), need, bound, mask)
			KMOVB(mask, bits.As32())
			return bits
		},
	}
}

// boundsAVX2 counts bits by looking up halves of bytes. Bounds, needs and collisions are below 2^31.
func boundsAVX2() bounder {
	counts := GLOBL("bitmapCounts", RODATA|NOPTR)
	for i := range 32 {
		n := i % 16
		DATA(i, U8(n&1+n>>1&1+n>>2&1+n>>3))
	}
	halves := GLOBL("bitmapHalves", RODATA|NOPTR)
	DATA(0, U64(0x0f0f0f0f0f0f0f0f))
	table, half, zero := YMM(), YMM(), YMM()
	return bounder{
		tier:   "AVX2",
		lanes:  4,
		vector: YMM,
		and:    func(a, b, to Op) { VPAND(a, b, to) },
		prepare: func() {
			VMOVDQU(counts, table)
			VPBROADCASTQ(halves, half)
			VPXOR(zero, zero, zero)
		},
		ones: func(words, sum reg.VecVirtual, first bool) {
			upper := YMM()
			VPSRLW(Imm(4), words, upper)
			VPAND(half, words, words)
			VPAND(half, upper, upper)
			VPSHUFB(words, table, words)
			VPSHUFB(upper, table, upper)
			if first {
				VPADDB(words, upper, sum)
				return
			}
			VPADDB(words, sum, sum)
			VPADDB(upper, sum, sum)
		},
		total: func(sum reg.VecVirtual) reg.VecVirtual {
			VPSADBW(zero, sum, sum)
			return sum
		},
		minimum: func(a, b, to reg.VecVirtual) { VPMINUD(a, b, to) },
		reached: func(bound, need reg.VecVirtual) reg.GPVirtual {
			below, bits := YMM(), GP64()
			VPCMPGTQ(bound, need, below)
			VMOVMSKPD(below, bits.As32())
			XORQ(Imm(0xf), bits)
			return bits
		},
	}
}
