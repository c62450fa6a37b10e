// Command hash writes the kernels that hash tokens and shingles.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The constants of package asmkernels. Its tests compare the kernels with the plain code, so that these cannot differ.
const (
	tokenFactor   = 0x9e3779b97f4a7c15
	elementFactor = 0xd7ed558ccd51
	tokenBlock    = 16
	elementBits   = 48
)

// A tier is a kind of vectors of 64-bit numbers and what the instruction sets call differently.
type tier struct {
	name   string
	lanes  int
	vector func() reg.VecVirtual
	move   func(from, to Op)
	ones   func(v Op)

	// prepare sets registers that hashTokens needs all the time.
	prepare func()

	// key returns a function that returns a key of those that a register points at, in all lanes.
	key func(from reg.Register) func(number int) Op

	// clear sets x to x &^ bits.
	clear func(bits, x Op)

	// times sets x to x * y modulo 2^64. The upper halves of both are in the lower halves of xUpper and yUpper; see
	// upper.
	times func(x, xUpper reg.VecVirtual, y Op, yUpper Op)

	// join sets first to its upper half and, below it, the upper half of second.
	join func(first, second reg.VecVirtual)

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
	f.upper = t.upper(f.whole)
	return f
}

// upper returns the upper half of x in the lower half of a vector where the tier multiplies by halves.
func (t tier) upper(x reg.VecVirtual) reg.VecVirtual {
	if t.lanes == 8 {
		return nil
	}
	u := t.vector()
	VPSRLQ(Imm(32), x, u)
	return u
}

// multiply sets x to x * factor modulo 2^64.
func (t tier) multiply(x reg.VecVirtual, f factor) { t.times(x, t.upper(x), f.whole, f.upper) }

// keys returns the numbers that register points at, each in all lanes.
func (t tier) keys(from reg.Register, count int) []reg.VecVirtual {
	keys := make([]reg.VecVirtual, count)
	for i := range keys {
		keys[i] = t.vector()
		VPBROADCASTQ(Mem{Base: from, Disp: 8 * i}, keys[i])
	}
	return keys
}

// hashTokens writes the hash of tokens, which leaves tokens longer than a block to the
// caller, by listing their numbers.
func (t tier) hashTokens() {
	TEXT("hashTokens"+t.name, NOSPLIT,
		"func(hashes []uint64, keys *[10]uint64, folded []byte, starts, ends, long []uint16) (count int)")
	Doc(
		"hashTokens"+t.name+" is hashTokensGo for as many tokens as a vector has lanes or more.",
		"It may write numbers to long twice.",
	)
	Pragma("noescape")
	mix := t.factor("hashToken", tokenFactor)
	limit := t.constant("hashBlock", tokenBlock)
	t.prepare()
	half := t.constant("hashHalf", 64)
	hashes := Load(Param("hashes").Base(), GP64())
	secret := Load(Param("keys"), GP64())
	folded := Load(Param("folded").Base(), GP64())
	starts := Load(Param("starts").Base(), GP64())
	ends := Load(Param("ends").Base(), GP64())
	long := Load(Param("long").Base(), GP64())
	key := t.key(secret)
	t.groups("hashes", func(i reg.Register) {
		offsets := GP64()
		LEAQ(Mem{Base: starts, Index: i, Scale: 2}, offsets)
		low, high := t.blocks(folded, offsets)

		length, start := t.vector(), t.vector()
		VPMOVZXWQ(Mem{Base: ends, Index: i, Scale: 2}, length)
		VPMOVZXWQ(Mem{Base: offsets}, start)
		VPSUBQ(start, length, length)
		t.list(length, limit, i, long)

		// Bytes beyond the end of the token are cleared. A shift by 64 or more leaves nothing to clear.
		bits, ones := t.vector(), t.vector()
		VPSLLQ(Imm(3), length, bits)
		t.ones(ones)
		beyond := t.vector()
		VPSLLVQ(bits, ones, beyond)
		t.clear(beyond, low)
		VPSUBUSW(half, bits, bits)
		VPSLLVQ(bits, ones, beyond)
		t.clear(beyond, high)

		lowUpper, highUpper := t.vector(), t.vector()
		VPSRLQ(Imm(32), low, lowUpper)
		VPSRLQ(Imm(32), high, highUpper)
		var halves [2]reg.VecVirtual
		for h := range halves {
			x := t.product(key(5*h), lowUpper, key(5*h+1), low)
			y := t.product(key(5*h+2), highUpper, key(5*h+3), high)
			VPADDQ(y, x, x)
			VPADDQ(key(5*h+4), x, x)
			halves[h] = x
		}
		x := halves[0]
		t.join(x, halves[1])
		t.fold(x, 32, t.vector())
		t.multiply(x, mix)
		t.move(x, Mem{Base: hashes, Index: i, Scale: 8})
	})
	SUBQ(Load(Param("long").Base(), GP64()), long)
	SHRQ(Imm(1), long)
	Store(long, Return("count"))
	VZEROUPPER()
	RET()
}

// product returns (a + x) * (b + y) modulo 2^64.
func (t tier) product(a Op, x reg.VecVirtual, b Op, y reg.VecVirtual) reg.VecVirtual {
	product, other := t.vector(), t.vector()
	VPADDQ(a, x, product)
	VPADDQ(b, y, other)
	t.times(product, t.upper(product), other, t.upper(other))
	return product
}

// shinglesOfThree writes Shingles for a width of 3.
func (t tier) shinglesOfThree() {
	TEXT("shinglesOfThree"+t.name, NOSPLIT, "func(elements, tokens []uint64, keys *[4]uint64)")
	Doc("shinglesOfThree" + t.name + " is shinglesOfThreeGo for as many elements as a vector has lanes, or more.")
	Pragma("noescape")
	mix := t.factor("hashElement", elementFactor<<(64-elementBits))
	elements := Load(Param("elements").Base(), GP64())
	tokens := Load(Param("tokens").Base(), GP64())
	keys := t.keys(Load(Param("keys"), GP64()), 4)
	var uppers [4]reg.VecVirtual
	for k := 1; k < 4; k++ {
		uppers[k] = t.upper(keys[k])
	}
	t.groups("elements", func(i reg.Register) {
		x := t.vector()
		for k := 1; k < 4; k++ {
			next := t.vector()
			t.move(Mem{Base: tokens, Index: i, Scale: 8, Disp: 8 * (k - 1)}, next)
			t.multiply(next, factor{keys[k], uppers[k]})
			if k == 1 {
				VPADDQ(keys[0], next, x)
			} else {
				VPADDQ(next, x, x)
			}
		}
		VPSRLQ(Imm(64-elementBits), x, x)
		t.fold(x, elementBits/2, t.vector())
		t.multiply(x, mix)
		VPSRLQ(Imm(64-elementBits), x, x)
		t.fold(x, elementBits/2, t.vector())
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
