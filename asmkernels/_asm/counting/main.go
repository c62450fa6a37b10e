// Command counting writes the kernels of count tables.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes        = 8
	countedSize  = 3
	countedBits  = 24
	cellsPerWord = 24
	counterAt    = 48
)

func main() {
	ConstraintExpr("amd64,!purego")
	// A lane takes its three bytes.
	bytes := GLOBL("countingBytes", RODATA|NOPTR)
	for i := range 8 * lanes {
		DATA(i, U8(i/8*countedSize+i%8%countedSize))
	}
	add(bytes)
	frequencies(bytes)
	Generate()
}

// A reader reads packed shingles, eight a turn.
type reader struct {
	packed, left        reg.GPVirtual // where the next are, and how many bytes there are
	unpack              reg.VecVirtual
	isHash              reg.Register // the bytes of a lane that are the hash
	words, mask, factor reg.VecVirtual
	one                 reg.VecVirtual
}

// begin writes the beginning of a function. Bytes says for each byte of the lanes which byte of the shingles it takes.
func begin(bytes Mem, table reg.GPVirtual) reader {
	r := reader{packed: GP64(), left: GP64(), unpack: ZMM(), isHash: K(), words: ZMM(), mask: ZMM(), factor: ZMM(), one: ZMM()}
	Load(Param("table").Base(), table)
	Load(Param("packed").Base(), r.packed)
	Load(Param("packed").Len(), r.left)
	number := GP64()
	Load(Param("table").Len(), number)
	VPBROADCASTQ(number, r.words)
	VMOVDQU64(bytes, r.unpack)
	broadcast := func(n uint64, to reg.VecVirtual) {
		MOVQ(U64(n), number)
		VPBROADCASTQ(number, to)
	}
	broadcast(1<<countedBits-1, r.mask)
	broadcast(cellsPerWord, r.factor)
	broadcast(1, r.one)
	MOVQ(U64(0x0707070707070707), number)
	KMOVQ(number, r.isHash)
	return r
}

// next reads eight shingles. It returns their words and their cells. It reads 32 bytes.
func (r reader) next() (words, cells reg.VecVirtual) {
	at, words, cells := ZMM(), ZMM(), ZMM()
	VMOVDQU(Mem{Base: r.packed}, at.AsY())
	VPERMB_Z(at, r.unpack, r.isHash, at)
	VPMULUDQ(r.words, at, at)
	VPSRLQ(Imm(countedBits), at, words)
	VPANDQ(r.mask, at, cells)
	VPMULUDQ(r.factor, cells, cells)
	VPSRLQ(Imm(countedBits), cells, cells)
	return words, cells
}

// turns writes the loop. Body works on eight shingles.
func (r reader) turns(body func()) {
	SUBQ(Imm(32), r.left)
	Label("turn")
	body()
	ADDQ(Imm(countedSize*lanes), r.packed)
	SUBQ(Imm(countedSize*lanes), r.left)
	JAE(LabelRef("turn"))
	VZEROUPPER()
	RET()
}

func add(bytes Mem) {
	TEXT("addCountsAVX512", NOSPLIT, "func(table []uint64, packed []byte)")
	Doc(
		"addCountsAVX512 is addCountsGo for at least 32 bytes of packed shingles. It",
		"takes eight at once as long as there are 32 bytes.",
	)
	Pragma("noescape")
	table := GP64()
	r := begin(bytes, table)
	increment := GP64()
	MOVQ(U64(1<<counterAt), increment)
	places := AllocLocal(2 * 8 * lanes)
	r.turns(func() {
		words, cells := r.next()
		VPSLLVQ(cells, r.one, cells)
		VMOVDQU64(words, places)
		VMOVDQU64(cells, places.Offset(8*lanes))
		// Two of the eight may have the same word.
		for lane := range lanes {
			at, one, word, more := GP64(), GP64(), GP64(), GP64()
			MOVQ(places.Offset(8*lane), at)
			MOVQ(places.Offset(8*(lanes+lane)), one)
			MOVQ(Mem{Base: table, Index: at, Scale: 8}, word)
			MOVQ(word, more)
			ADDQ(increment, more)
			CMOVQCS(word, more) // the counter is full
			ANDQ(one, word)
			SHLQ(Imm(cellsPerWord), word)
			ORQ(one, more)
			ORQ(word, more)
			MOVQ(more, Mem{Base: table, Index: at, Scale: 8})
		}
	})
}

func frequencies(bytes Mem) {
	TEXT("frequenciesOfAVX512", NOSPLIT, "func(frequencies []byte, table []uint64, packed []byte)")
	Doc(
		"frequenciesOfAVX512 is frequenciesOfGo for at least 32 bytes of packed shingles.",
		"It takes eight at once as long as there are 32 bytes.",
	)
	Pragma("noescape")
	table, out := GP64(), GP64()
	Load(Param("frequencies").Base(), out)
	r := begin(bytes, table)
	several, four, least, number := ZMM(), ZMM(), ZMM(), GP64()
	VPSLLQ(Imm(cellsPerWord), r.one, several)
	VPSLLQ(Imm(2), r.one, four)
	MOVQ(U64(61), number)
	VPBROADCASTQ(number, least)
	r.turns(func() {
		words, cells := r.next()
		all, word, isSeveral, octave := K(), ZMM(), K(), ZMM()
		KXNORB(all, all, all)
		VPGATHERQQ(Mem{Base: table, Index: words, Scale: 8}, all, word)
		VPSLLVQ(cells, several, cells)
		VPTESTMQ(cells, word, isSeveral)
		VPSRLQ(Imm(counterAt), word, word)
		// The octave is the place of the highest bit, from the third.
		VPORQ(four, word, octave)
		VPLZCNTQ(octave, octave)
		VPSUBQ(octave, least, octave)
		VPSRLVQ(octave, word, word)
		VPSLLQ(Imm(2), octave, octave)
		VPADDQ_Z(octave, word, isSeveral, word)
		VPMOVQB(word, Mem{Base: out})
		ADDQ(Imm(lanes), out)
	})
}
