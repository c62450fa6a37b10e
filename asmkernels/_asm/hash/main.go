// Command hash writes the kernels that hash tokens and shingles.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of package asmkernels. Its tests compare the kernels with the
// plain code, so that these cannot differ.
const (
	tokenFactor1    = 0x9e3779b97f4a7c15
	tokenFactor2    = 0xbf58476d1ce4e5b9
	tokenFactor3    = 0x94d049bb133111eb
	tokenAddend     = 0xc4ceb9fe1a85ec53
	shingleFactor   = 0xff51afd7ed558ccd
	shingleRotation = 21
	tokenBlock      = 16
	elementBits     = 48
)

// A tier is a kind of vectors of 64-bit numbers and what the instruction sets
// call differently.
type tier struct {
	name   string
	lanes  int
	vector func() reg.VecVirtual
	move   func(from, to Op)
	ones   func(v Op)

	// prepare sets registers that hashTokens needs all the time.
	prepare func()

	// clear sets x to x &^ bits.
	clear func(bits, x Op)

	// multiply sets x to x * factor modulo 2^64. The upper half of x is in the
	// lower half of upper.
	multiply func(x, upper reg.VecVirtual, factor factor)

	// rotate rotates x to the left.
	rotate func(by int, x reg.VecVirtual)

	// blocks loads a token's block for every lane, from offsets after base, and
	// returns the first and last eight bytes of each.
	blocks func(base, offsets reg.Register) (low, high reg.VecVirtual)

	// list appends the numbers of the lanes where length is above limit, counted
	// from first, to the words where at points.
	list func(length, limit reg.VecVirtual, first, at reg.Register)
}

// A factor is a constant in all lanes, and its upper half in the lower half of
// all lanes where the tier multiplies by halves.
type factor struct{ whole, upper reg.VecVirtual }

func main() {
	ConstraintExpr("amd64,!purego")
	for _, t := range []tier{avx512(), avx2()} {
		t.hashTokens()
		t.shinglesOfThree()
	}
	Generate()
}

// constants has the address of every constant written so far.
var constants = map[uint64]Mem{}

// constant returns x in all lanes.
func (t tier) constant(name string, x uint64) reg.VecVirtual {
	m, ok := constants[x]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U64(x))
		constants[x] = m
	}
	v := t.vector()
	VPBROADCASTQ(m, v)
	return v
}

func (t tier) factor(name string, x uint64) factor {
	f := factor{whole: t.constant(name, x)}
	if t.lanes == 4 {
		f.upper = t.vector()
		VPSRLQ(Imm(32), f.whole, f.upper)
	}
	return f
}

// hashTokens writes HashTokens, which leaves tokens longer than a block to the
// caller, by listing their numbers.
func (t tier) hashTokens() {
	TEXT("hashTokens"+t.name, NOSPLIT, "func(hashes []uint64, seed uint64, folded []byte, starts, ends, long []uint16) (count int)")
	Doc(
		"hashTokens"+t.name+" is hashTokensGo for as many tokens as a vector has lanes or more,",
		"and up to a block's length. It writes the numbers of longer ones to long, some twice,",
		"and returns how many it has written.",
	)
	Pragma("noescape")
	factor1, factor2, factor3 := t.factor("hashFactor1", tokenFactor1), t.factor("hashFactor2", tokenFactor2), t.factor("hashFactor3", tokenFactor3)
	addend := t.constant("hashAddend", tokenAddend)
	limit := t.constant("hashBlock", tokenBlock)
	t.prepare()
	half := t.constant("hashHalf", 64)
	hashes := Load(Param("hashes").Base(), GP64())
	folded := Load(Param("folded").Base(), GP64())
	starts := Load(Param("starts").Base(), GP64())
	ends := Load(Param("ends").Base(), GP64())
	long := Load(Param("long").Base(), GP64())
	t.groups("hashes", func(i reg.Register) {
		offsets := GP64()
		LEAQ(Mem{Base: starts, Index: i, Scale: 2}, offsets)
		low, high := t.blocks(folded, offsets)

		length, start := t.vector(), t.vector()
		VPMOVZXWQ(Mem{Base: ends, Index: i, Scale: 2}, length)
		VPMOVZXWQ(Mem{Base: offsets}, start)
		VPSUBQ(start, length, length)
		t.list(length, limit, i, long)

		// Bytes beyond the end of the token are cleared. A shift by 64 or more
		// leaves nothing to clear.
		bits, ones := t.vector(), t.vector()
		VPSLLQ(Imm(3), length, bits)
		t.ones(ones)
		beyond := t.vector()
		VPSLLVQ(bits, ones, beyond)
		t.clear(beyond, low)
		VPSUBUSW(half, bits, bits)
		VPSLLVQ(bits, ones, beyond)
		t.clear(beyond, high)

		// AVX2 has no register to keep the seed in.
		seed := t.vector()
		VPBROADCASTQ(NewParamAddr("seed", 24), seed)
		x, upper := low, t.vector()
		VPADDQ(seed, x, x)
		VPSRLQ(Imm(32), x, upper)
		t.multiply(x, upper, factor1)
		t.fold(x, 32, upper)
		VPADDQ(high, x, x)
		VPSRLQ(Imm(32), x, upper)
		t.multiply(x, upper, factor2)
		VPADDQ(addend, x, x)
		t.fold(x, 32, upper)
		t.multiply(x, upper, factor3)
		t.fold(x, 29, upper)
		t.move(x, Mem{Base: hashes, Index: i, Scale: 8})
	})
	SUBQ(Load(Param("long").Base(), GP64()), long)
	SHRQ(Imm(1), long)
	Store(long, Return("count"))
	VZEROUPPER()
	RET()
}

// shinglesOfThree writes Shingles for a width of 3.
func (t tier) shinglesOfThree() {
	TEXT("shinglesOfThree"+t.name, NOSPLIT, "func(elements, tokens []uint64)")
	Doc("shinglesOfThree" + t.name + " is shinglesOfThreeGo for as many elements as a vector has lanes, or more.")
	Pragma("noescape")
	factor := t.factor("hashShingle", shingleFactor)
	elements := Load(Param("elements").Base(), GP64())
	tokens := Load(Param("tokens").Base(), GP64())
	t.groups("elements", func(i reg.Register) {
		x := t.vector()
		t.move(Mem{Base: tokens, Index: i, Scale: 8}, x)
		for k := 1; k < 3; k++ {
			next := t.vector()
			t.move(Mem{Base: tokens, Index: i, Scale: 8, Disp: 8 * k}, next)
			t.rotate(k*shingleRotation, next)
			VPADDQ(next, x, x)
		}
		upper := t.vector()
		t.fold(x, 32, upper)
		t.multiply(x, upper, factor)
		t.fold(x, 32, upper)
		VPSRLQ(Imm(64-elementBits), x, x)
		t.move(x, Mem{Base: elements, Index: i, Scale: 8})
	})
	VZEROUPPER()
	RET()
}

// groups writes a loop over the numbers from 0 to the length of list, as many at
// a time as there are lanes. The last group may overlap with the one before.
func (t tier) groups(list string, body func(first reg.Register)) {
	last := Load(Param(list).Len(), GP64())
	SUBQ(Imm(uint64(t.lanes)), last)
	i := GP64()
	XORQ(i, i)
	Label("group")
	body(i)
	CMPQ(i, last)
	JE(LabelRef("done"))
	ADDQ(Imm(uint64(t.lanes)), i)
	CMPQ(i, last)
	CMOVQGT(last, i)
	JMP(LabelRef("group"))
	Label("done")
}

// fold sets upper to x shifted to the right, and x to x ^ upper.
func (t tier) fold(x reg.VecVirtual, by uint64, upper reg.VecVirtual) {
	VPSRLQ(Imm(by), x, upper)
	if t.lanes == 8 {
		VPXORQ(upper, x, x)
	} else {
		VPXOR(upper, x, x)
	}
}
