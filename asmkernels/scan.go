package asmkernels

import (
	"encoding/binary"
	"math/bits"
)

const (
	// BlockSize is the number of bytes of a text that are classified together: one per bit of a mask.
	BlockSize = 64

	// Lookahead is the number of bytes that must be readable from the beginning
	// of a block: the block and the rest of a code point that begins in it.
	Lookahead = BlockSize + 8
)

// Constants with the same byte or bit pattern in all eight bytes of a word.
const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	lowBits   = 0x7f * everyByte
	caseBits  = 0x20 * everyByte
)

// A Scan is how far the search for the tokens of a chunk of text has come. The chunk is folded to lower case on the
// way. Token number i is folded[starts[i]:ends[i]].
type Scan struct {
	Written int // bytes folded so far
	Starts  int // starts of tokens found so far
	Ends    int // ends of tokens found so far

	// Open is 1 when the last byte folded belongs to a token, and Closed is 1 when it ends one whatever follows.
	Open, Closed uint64

	// Letters is the mask of the ASCII letters and digits in the block that ended a run of blocks.
	Letters uint64
}

// Run folds the blocks of window that begin before limit, and appends the starts and ends of the tokens in them, until
// one needs the caller's care. It returns the number of bytes before that block: if they are limit or more, there is
// none, and otherwise this block is not counted in s, but its ASCII characters are folded, and s.Letters tells which
// are letters and digits.
//
// Every block of nothing but ASCII is taken. Folding sets bit 5 of its bytes, which changes letters to lower case,
// leaves digits, and makes something else of what gets into no token. Other blocks may be taken or not, but for those
// that contain invalid UTF-8, a code point of four bytes or one that classes leaves to the caller: these are not.
//
// From the beginning of each block, Lookahead bytes must be readable in window and writable in folded. Starts and ends
// need room for BlockSize elements more than there will be.
func (s *Scan) Run(classes *Classes, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	return runScan(s, classes, folded, starts, ends, window, limit)
}

// runScanGo is Scan.Run, and takes only blocks of ASCII.
func runScanGo(s *Scan, folded []byte, starts, ends []uint16, window []byte, limit int) int {
	at := 0
	for ; at < limit; at += BlockSize {
		source := (*[BlockSize]byte)(window[at:])
		target := (*[BlockSize]byte)(folded[s.Written:])
		var letters, all uint64
		for i := 0; i < BlockSize; i += 8 {
			word := binary.LittleEndian.Uint64(source[i:])
			// This folds A to Z and leaves a to z and 0 to 9 as they are. No other ASCII character gets into a token.
			binary.LittleEndian.PutUint64(target[i:], word|caseBits)
			letters |= GatherHighBits(lettersASCII(word)) << i
			all |= word
		}
		if all&highBits != 0 {
			s.Letters = letters
			break
		}
		s.Advance(starts, ends, letters, 0, BlockSize)
	}
	return at
}

// lettersASCII returns the high bit of every byte of word that is an ASCII letter or digit. The sums cannot carry into
// the next byte, and a high bit that is in only one of two of them marks a byte between the two limits.
func lettersASCII(word uint64) uint64 {
	ascii := word & lowBits
	lower := ascii | caseBits
	alphabetic := (lower + (0x80-'a')*everyByte) ^ (lower + (0x7f-'z')*everyByte)
	numeric := (ascii + (0x80-'0')*everyByte) ^ (ascii + (0x7f-'9')*everyByte)
	return (alphabetic | numeric) &^ word & highBits
}

// GatherHighBits moves the high bits of the eight bytes of word to the eight
// lowest bits, the first byte's lowest. The other bits of word are zero.
func GatherHighBits(word uint64) uint64 {
	return word * 0x0002040810204081 >> 56
}

// Advance appends the starts and ends of tokens in the next size bytes folded, at least one. Bit i of tokens says that
// byte i belongs to a token and bit i of boundaries that no token goes on from byte i-1 to byte i.
func (s *Scan) Advance(starts, ends []uint16, tokens, boundaries uint64, size int) {
	before := tokens<<1 | s.Open
	boundaries |= s.Closed
	startBits := tokens & (boundaries | ^before)
	endBits := before & (boundaries | ^tokens) & (^uint64(0) >> (BlockSize - size))

	// One loop for both: there are as many ends as starts, give or take one.
	base := uint16(s.Written)
	starts, ends = starts[s.Starts:], ends[s.Ends:]
	s.Starts += bits.OnesCount64(startBits)
	s.Ends += bits.OnesCount64(endBits)
	for i := 0; startBits|endBits != 0; i++ {
		starts[i] = base + uint16(bits.TrailingZeros64(startBits))
		ends[i] = base + uint16(bits.TrailingZeros64(endBits))
		startBits &= startBits - 1
		endBits &= endBits - 1
	}
	s.Written += size
	s.Open, s.Closed = tokens>>(size-1)&1, 0
}
