// Command simhash writes the kernels that count the bits of words.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// planes is the number of bits of a lane's counters.
	planes = 8

	// block is the number of vectors that are added at once, and blockPlanes that of the bits of their sum.
	block       = 8
	blockPlanes = 4

	// counterPlanes is the number of bits of the counters in memory.
	counterPlanes = 40
)

// The constants of SplitMix. Tests compare the kernels with the plain code, so that these cannot differ.
const (
	mixFactor1 = 0xbf58476d1ce4e5b9
	mixFactor2 = 0x94d049bb133111eb
)

// A tier is a kind of vectors of 64-bit numbers and what the instruction sets call differently.
type tier struct {
	name   string
	lanes  int
	vector func() reg.VecVirtual

	// halves are the vectors of half the length and so on, down to one number: each takes one from the register of the
	// one before, and returns its upper half as well.
	halves []func(v reg.VecVirtual) (lower, upper reg.VecVirtual)

	// clear makes v zero, broadcast sets its lanes to x.
	clear     func(v Op)
	broadcast func(x Mem, v reg.VecVirtual)

	// load loads a vector. LoadFirst loads the first lanes of one, as many as
	// count, and zeros; it returns what makes the other lanes zero again.
	load      func(from Mem) reg.VecVirtual
	loadFirst func(from Mem, count reg.Register) (v reg.VecVirtual, clearRest func())

	// multiply returns what multiplies by a constant modulo 2^64.
	multiply func(factor uint64) func(v reg.VecVirtual)

	// mix sets v to v ^ v>>shift.
	mix func(shift uint64, v reg.VecVirtual)

	// xor sets b to a ^ b.
	xor func(a, b Op)

	// add adds b and c to a: it leaves the sums of three bits in a and returns the carries. With two, c is nil.
	add func(a, b, c reg.VecVirtual) (carry reg.VecVirtual)
}

func main() {
	ConstraintExpr("amd64,!purego")
	for _, t := range []tier{avx512(), avx2()} {
		TEXT("addBits"+t.name, NOSPLIT, fmt.Sprintf("func(counters *[%d]uint64, words []uint64)", counterPlanes))
		t.doc("addBits", "addBitsGo")
		t.kernel("words", func(reg.VecVirtual) {})

		TEXT("addMixedBits"+t.name, NOSPLIT,
			fmt.Sprintf("func(counters *[%d]uint64, states []uint64, offset uint64)", counterPlanes))
		t.doc("addMixedBits", "addMixedBitsGo")
		t.kernel("states", t.splitMix())
	}
	Generate()
}

func (t tier) doc(name, reference string) {
	Doc(fmt.Sprintf("%s%s is %s for up to %d words.", name, t.name, reference, t.lanes*(1<<planes-1)))
	Pragma("noescape")
}

// splitMix returns what turns states into outputs of SplitMix64.
func (t tier) splitMix() func(v reg.VecVirtual) {
	offset := t.vector()
	address, err := Param("offset").Resolve()
	if err != nil {
		panic(err)
	}
	t.broadcast(address.Addr, offset)
	multiply1, multiply2 := t.multiply(mixFactor1), t.multiply(mixFactor2)
	return func(v reg.VecVirtual) {
		VPADDQ(offset, v, v)
		t.mix(30, v)
		multiply1(v)
		t.mix(27, v)
		multiply2(v)
		t.mix(31, v)
	}
}

// kernel writes the function for the words of the given parameter, each passed through change. Every lane has counters
// of its own; at the end they are added up.
func (t tier) kernel(parameter string, change func(v reg.VecVirtual)) {
	counters := Load(Param("counters"), GP64())
	at := Load(Param(parameter).Base(), GP64())
	left := Load(Param(parameter).Len(), GP64())
	vector := func(i int) reg.VecVirtual {
		v := t.load(Mem{Base: at, Disp: 8 * t.lanes * i})
		change(v)
		return v
	}
	sums := make([]reg.VecVirtual, planes)
	for p := range sums {
		sums[p] = t.vector()
		t.clear(sums[p])
	}

	// What does not fill a vector or a block comes first, when there is nothing yet for its carries to change.
	first := GP64()
	MOVQ(left, first)
	ANDQ(Imm(uint64(t.lanes-1)), first)
	JE(LabelRef("vectors"))
	v, clearRest := t.loadFirst(Mem{Base: at}, first)
	change(v)
	clearRest()
	t.addAt(0, sums[:blockPlanes], v)
	LEAQ(Mem{Base: at, Index: first, Scale: 8}, at)
	SUBQ(first, left)
	Label("vectors")
	TESTQ(U32(uint32(t.lanes*block-1)), left)
	JE(LabelRef("few"))
	t.addAt(0, sums[:blockPlanes], vector(0))
	ADDQ(U32(uint32(8*t.lanes)), at)
	SUBQ(Imm(uint64(t.lanes)), left)
	JMP(LabelRef("vectors"))

	Label("few")
	TESTQ(left, left)
	JNE(LabelRef("blocks"))
	t.finish("few", sums[:blockPlanes], counters)
	Label("blocks")
	t.addAt(blockPlanes-1, sums, t.addTree(sums, 0, block, vector))
	ADDQ(U32(uint32(8*t.lanes*block)), at)
	SUBQ(U32(uint32(t.lanes*block)), left)
	JNE(LabelRef("blocks"))
	t.finish("many", sums, counters)
}

// addTree adds count vectors from number i to sums by a tree of carry-save adders and returns what they carry.
func (t tier) addTree(sums []reg.VecVirtual, i, count int, vector func(i int) reg.VecVirtual) (carry reg.VecVirtual) {
	if count == 2 {
		a := vector(i)
		return t.add(sums[0], a, vector(i+1))
	}
	a := t.addTree(sums, i, count/2, vector)
	b := t.addTree(sums, i+count/2, count/2, vector)
	level := 0
	for n := count; n > 2; n /= 2 {
		level++
	}
	return t.add(sums[level], a, b)
}

// addAt adds v to the planes from p upwards, which do not overflow.
func (t tier) addAt(p int, sums []reg.VecVirtual, v reg.VecVirtual) {
	for ; p < len(sums)-1; p++ {
		v = t.add(sums[p], v, nil)
	}
	t.xor(v, sums[p])
}

// finish adds the lanes up, adds their sum to the counters, and returns.
func (t tier) finish(name string, sums []reg.VecVirtual, counters reg.Register) {
	for _, half := range t.halves {
		var carry reg.VecVirtual
		lowers := make([]reg.VecVirtual, 0, len(sums)+1)
		for _, v := range sums {
			lower, upper := half(v)
			carry = t.add(lower, upper, carry)
			lowers = append(lowers, lower)
		}
		sums = append(lowers, carry)
	}
	var carry reg.VecVirtual
	for p, sum := range sums {
		plane := Mem{Base: counters, Disp: 8 * p}
		v := t.vector().AsX().(reg.VecVirtual)
		VMOVQ(plane, v)
		carry = t.add(v, sum, carry)
		VMOVQ(v, plane)
	}
	// A carry beyond these is rare.
	carried, p, before := GP64(), GP64(), GP64()
	VMOVQ(carry, carried)
	MOVQ(U32(uint32(len(sums))), p)
	JMP(LabelRef(name + "Carried"))
	Label(name + "Carry")
	plane := Mem{Base: counters, Index: p, Scale: 8}
	MOVQ(plane, before)
	XORQ(carried, plane)
	ANDQ(before, carried)
	INCQ(p)
	CMPQ(p, Imm(counterPlanes))
	JE(LabelRef(name + "Done"))
	Label(name + "Carried")
	TESTQ(carried, carried)
	JNE(LabelRef(name + "Carry"))
	Label(name + "Done")
	VZEROUPPER()
	RET()
}
