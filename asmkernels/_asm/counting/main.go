// Command counting writes the kernels of count tables.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes        = 8 // shingles a turn
	countedSize  = 3
	countedBits  = 24
	cellsPerWord = 24
	counterAt    = 48
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, t := range []tier{avx512(), avx2()} {
		add(t)
		frequencies(t)
	}
	Generate()
}

// A tier works on vectors of some lanes. One turn takes one or two of them.
type tier struct {
	name   string
	lanes  int
	vector func() reg.VecVirtual
	// constant returns a vector with n in each lane.
	constant func(n uint64) reg.VecVirtual
	// unpacking returns a function that reads a vector of packed shingles. It may read 32 bytes from the first.
	unpacking func() func(at Mem) reg.VecVirtual
	// frequencies returns a function that writes the frequencies of shingles, given their places and cells.
	frequencies func() func(table reg.Register, words, cells reg.VecVirtual, to Mem)
}

// A reader reads packed shingles, eight a turn.
type reader struct {
	tier
	packed, left        reg.GPVirtual // where the next are, and how many bytes there are
	unpack              func(at Mem) reg.VecVirtual
	words, mask, factor reg.VecVirtual
}

// begin writes the beginning of a function.
func (t tier) begin(table reg.GPVirtual) reader {
	r := reader{tier: t, packed: GP64(), left: GP64(), words: t.vector()}
	Load(Param("table").Base(), table)
	Load(Param("packed").Base(), r.packed)
	Load(Param("packed").Len(), r.left)
	words := XMM()
	VMOVQ(Load(Param("table").Len(), GP64()), words)
	VPBROADCASTQ(words, r.words)
	r.unpack = t.unpacking()
	r.mask, r.factor = t.constant(1<<countedBits-1), t.constant(cellsPerWord)
	return r
}

// next reads the vector of shingles that begins with that one of the turn. It returns their words and their cells.
func (r reader) next(first int) (words, cells reg.VecVirtual) {
	at, words, cells := r.unpack(Mem{Base: r.packed, Disp: first * countedSize}), r.vector(), r.vector()
	VPMULUDQ(r.words, at, at)
	VPSRLQ(Imm(countedBits), at, words)
	r.and(r.mask, at, cells)
	VPMULUDQ(r.factor, cells, cells)
	VPSRLQ(Imm(countedBits), cells, cells)
	return words, cells
}

func (t tier) and(a, b, to reg.VecVirtual) {
	if t.lanes == lanes {
		VPANDQ(a, b, to)
		return
	}
	VPAND(a, b, to)
}

// turns writes the loop. Body works on the vector that begins with a shingle of the turn.
func (r reader) turns(body func(first int)) {
	SUBQ(Imm(32), r.left)
	Label("turn")
	for first := 0; first < lanes; first += r.lanes {
		body(first)
	}
	ADDQ(Imm(countedSize*lanes), r.packed)
	SUBQ(Imm(countedSize*lanes), r.left)
	JAE(LabelRef("turn"))
	VZEROUPPER()
	RET()
}

func add(t tier) {
	TEXT("addCounts"+t.name, NOSPLIT, "func(table []uint64, packed []byte)")
	Doc(
		"addCounts"+t.name+" is addCountsGo for at least 32 bytes of packed shingles. It",
		"takes eight at once as long as there are 32 bytes.",
	)
	Pragma("noescape")
	table := GP64()
	r := t.begin(table)
	one := t.constant(1)
	increment := GP64()
	MOVQ(U64(1<<counterAt), increment)
	places := AllocLocal(2 * 8 * lanes)
	r.turns(func(first int) {
		words, cells := r.next(first)
		VPSLLVQ(cells, one, cells)
		t.move(words, places.Offset(8*first))
		t.move(cells, places.Offset(8*(lanes+first)))
		// Two of them may have the same word.
		for lane := first; lane < first+t.lanes; lane++ {
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

func (t tier) move(v reg.VecVirtual, to Mem) {
	if t.lanes == lanes {
		VMOVDQU64(v, to)
		return
	}
	VMOVDQU(v, to)
}

func frequencies(t tier) {
	TEXT("frequenciesOf"+t.name, NOSPLIT, "func(frequencies []byte, table []uint64, packed []byte)")
	Doc(
		"frequenciesOf"+t.name+" is frequenciesOfGo for at least 32 bytes of packed",
		"shingles. It takes eight at once as long as there are 32 bytes.",
	)
	Pragma("noescape")
	table, out := GP64(), GP64()
	Load(Param("frequencies").Base(), out)
	r := t.begin(table)
	write := t.frequencies()
	r.turns(func(first int) {
		words, cells := r.next(first)
		write(table, words, cells, Mem{Base: out})
		ADDQ(Imm(uint64(t.lanes)), out)
	})
}
