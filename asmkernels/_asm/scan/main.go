// Command scan writes the kernels that fold text and find the tokens in it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const blockSize = 64

// signature is the signature of the kernels. The first argument is a *Scan, which is
// nothing but numbers of 64 bits, in the order of the constants below.
const signature = "func(scan *[6]uint64, classes *byte, folded []byte, starts, ends []uint16, window []byte, " +
	"limit int) (read int)"

// The fields of Scan.
const (
	written = iota
	startCount
	endCount
	open
	closed
	letters
)

func main() {
	ConstraintExpr("amd64,!purego")
	avx512()
	avx2()
	Generate()
}

// state is what a kernel knows of the Scan and of its arguments.
type state struct {
	source, end  reg.Register // where to read, and the end of what to read
	folded       reg.Register // where to write
	starts, ends reg.Register // where the next start and end go
	open, closed reg.GPVirtual
}

// begin loads the arguments.
func begin() state {
	s := state{
		source: Load(Param("window").Base(), GP64()),
		end:    Load(Param("limit"), GP64()),
		folded: Load(Param("folded").Base(), GP64()),
		starts: Load(Param("starts").Base(), GP64()),
		ends:   Load(Param("ends").Base(), GP64()),
	}
	ADDQ(s.source, s.end)
	scan := Load(Param("scan"), GP64())
	field := func(i int) reg.GPVirtual {
		value := GP64()
		MOVQ(Mem{Base: scan, Disp: 8 * i}, value)
		return value
	}
	ADDQ(field(written), s.folded)
	LEAQ(Mem{Base: s.starts, Index: field(startCount), Scale: 2}, s.starts)
	LEAQ(Mem{Base: s.ends, Index: field(endCount), Scale: 2}, s.ends)
	s.open, s.closed = field(open), field(closed)
	return s
}

// finish stores the state and returns.
func (s state) finish() {
	scan := Load(Param("scan"), GP64())
	SUBQ(Load(Param("folded").Base(), GP64()), s.folded)
	SUBQ(Load(Param("starts").Base(), GP64()), s.starts)
	SUBQ(Load(Param("ends").Base(), GP64()), s.ends)
	SHRQ(Imm(1), s.starts)
	SHRQ(Imm(1), s.ends)
	for i, value := range []Op{
		written:    s.folded,
		startCount: s.starts,
		endCount:   s.ends,
		open:       s.open,
		closed:     s.closed,
	} {
		MOVQ(value, Mem{Base: scan, Disp: 8 * i})
	}
	SUBQ(Load(Param("window").Base(), GP64()), s.source)
	Store(s.source, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// base returns Written modulo 2^16.
func (s state) base() reg.GPVirtual {
	base := GP64()
	MOVQ(s.folded, base)
	SUBQ(Load(Param("folded").Base(), GP64()), base)
	return base
}

// bounds turns the mask of token bytes in a block of ASCII into the masks of
// starts and ends, and updates open and closed.
func (s state) bounds(tokens reg.GPVirtual) (starts, ends reg.GPVirtual) {
	before := GP64()
	LEAQ(Mem{Base: s.open, Index: tokens, Scale: 2}, before)
	starts, ends = GP64(), GP64()
	ANDNQ(before, s.closed, starts)
	ANDNQ(tokens, starts, starts)
	ANDNQ(tokens, s.closed, ends)
	ANDNQ(before, ends, ends)
	MOVQ(tokens, s.open)
	SHRQ(Imm(blockSize-1), s.open)
	XORL(s.closed.As32(), s.closed.As32())
	return starts, ends
}

// stop hands the letters of a block that is the caller's to the Scan.
func stop(tokens reg.GPVirtual) {
	MOVQ(tokens, Mem{Base: Load(Param("scan"), GP64()), Disp: 8 * letters})
}

// constants has the address of every constant written so far.
var constants = map[string]Mem{}

// broadcast returns a constant of one byte.
func broadcast(name string, b uint8) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U8(b))
		constants[name] = m
	}
	return m
}
