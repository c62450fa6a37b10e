package sketch

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

const (
	// chunkSize is the number of bytes of a text that go through all steps
	// before the next ones do, so that what the steps hand to each other stays
	// in the first-level cache.
	chunkSize = 8 << 10

	// blockSize is the number of bytes that are classified together: one per
	// bit of a mask.
	blockSize = 64

	// lookahead is the number of bytes that must be readable from the beginning
	// of a block: the block and the rest of a code point that begins in it.
	lookahead = blockSize + 8

	// foldedSize is the room for the folded bytes of a chunk: the kept end of
	// a token, the chunk to the end of its last block, growing by half should
	// it consist of nothing but the code points whose lower case has three
	// bytes instead of two, and what a block or a token reads beyond.
	foldedSize = tokenBlock + (chunkSize+blockSize)*3/2 + lookahead + tokenBlock

	// mostTokens is the room for the tokens of a chunk: one in two bytes, and
	// as many as a block writes beyond the last.
	mostTokens = (chunkSize+blockSize)/2 + blockSize
)

// Constants with the same byte or bit pattern in all eight bytes of a word.
const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	lowBits   = 0x7f * everyByte
	caseBits  = 0x20 * everyByte
)

// tokenizer folds text to lower case and finds the tokens in it, one chunk
// after the other:
//
//	fold, then close at the end of the text; read the tokens; keep
//
// Token number i of the chunk is folded[starts[i]:ends[i]]. A token that may go
// on in the next chunk has a start but no end yet.
type tokenizer struct {
	classes *classTable

	folded  [foldedSize]byte
	written int // bytes of folded in use

	starts, ends         [mostTokens]uint16
	startCount, endCount int

	// open is 1 when the last byte in folded belongs to a token, and closed is
	// 1 when it ends one whatever follows.
	open, closed uint64

	// prefix is the hash state of the part of token 0 that earlier chunks
	// contained and keep has dropped, 0 if there is none.
	prefix uint64

	// invalid counts the bytes that are not part of valid UTF-8.
	invalid int
}

// reset prepares for another text.
func (t *tokenizer) reset() {
	t.written, t.startCount, t.endCount = 0, 0, 0
	t.open, t.closed, t.prefix, t.invalid = 0, 0, 0, 0
}

// fold reads window to at least its first limit bytes and returns how many it
// has read: less than blockSize more. There must be lookahead bytes in window
// behind limit; at the end of the text they are zero.
func (t *tokenizer) fold(window []byte, limit int) int {
	at := 0
	for at < limit {
		source := (*[lookahead]byte)(window[at:])
		folded := (*[lookahead]byte)(t.folded[t.written:])
		var letters, all uint64
		for i := 0; i < blockSize; i += 8 {
			word := binary.LittleEndian.Uint64(source[i:])
			// This folds A to Z and leaves a to z and 0 to 9 as they are.
			// No other ASCII character gets into a token.
			binary.LittleEndian.PutUint64(folded[i:], word|caseBits)
			letters |= gather(lettersASCII(word)) << i
			all |= word
		}
		if all&highBits == 0 {
			t.advance(letters, 0, blockSize)
			at += blockSize
			continue
		}
		b := t.foldWide(source, folded, letters)
		if b.size > 0 {
			t.advance(b.tokens, b.boundaries, b.size)
			t.closed = b.solos >> (b.size - 1) & 1
			at += b.size
		}
		if b.resized {
			at += t.foldResized(window[at:])
		}
	}
	return at
}

// lettersASCII returns the high bit of every byte of word that is an ASCII
// letter or digit. The sums cannot carry into the next byte, and a high bit that
// is in only one of two of them marks a byte between the two limits.
func lettersASCII(word uint64) uint64 {
	ascii := word & lowBits
	lower := ascii | caseBits
	alphabetic := (lower + (0x80-'a')*everyByte) ^ (lower + (0x7f-'z')*everyByte)
	numeric := (ascii + (0x80-'0')*everyByte) ^ (ascii + (0x7f-'9')*everyByte)
	return (alphabetic | numeric) &^ word & highBits
}

// gather moves the high bits of the eight bytes of word to the eight lowest
// bits, the first byte's lowest. The other bits of word are zero.
func gather(word uint64) uint64 {
	return word * 0x0002040810204081 >> 56
}

// wideBlock is what foldWide finds in a block.
type wideBlock struct {
	tokens     uint64 // bytes of tokens
	boundaries uint64 // bytes before which a token ends if there is one
	solos      uint64 // bytes of code points that are tokens of their own
	size       int    // bytes of the block to take; the rest belongs to the next
	resized    bool   // a code point whose lower case has another length follows
}

// foldWide folds the code points outside of ASCII in a block of source. It
// begins with the mask of the ASCII letters and with these folded in place.
//
// The code points are folded in place too. Where that is impossible, because
// one reaches into the next block or because its lower case has another length,
// the block ends.
func (t *tokenizer) foldWide(source, folded *[lookahead]byte, letters uint64) wideBlock {
	classes := t.classes
	var wide uint64 // the bytes still to be looked at
	for i := 0; i < blockSize; i += 8 {
		wide |= gather(binary.LittleEndian.Uint64(source[i:])&highBits) << i
	}
	var heads uint64                   // first bytes of code points
	var ofClass [everyClass + 1]uint64 // bytes of code points of each class
	size, resized := blockSize, false
	for wide != 0 {
		at := bits.TrailingZeros64(wide) & (blockSize - 1)
		head := wide & -wide
		code := binary.LittleEndian.Uint32(source[at:])

		if code&0xc0e0 == 0x80c0 {
			entry := classes.shorts[code&0x1f<<6|code>>8&0x3f]
			if c := class(entry >> shortClass); c&irregular == 0 {
				if at > blockSize-2 {
					size = at
					break
				}
				binary.LittleEndian.PutUint16(folded[at:], uint16(entry))
				ofClass[c&everyClass] |= 3 * head
				wide &^= 3 * head
				heads |= head
				continue
			}
		} else if code&0xc0c0f0 == 0x8080e0 {
			r := code&0xf<<12 | code>>2&0xfc0 | code>>16&0x3f
			if c := classes.class(r); c&irregular == 0 && r >= firstOfThree {
				if at > blockSize-3 {
					size = at
					break
				}
				// The fourth byte is the next code point's: as fold left it
				// if it is ASCII, still to be written if not.
				binary.LittleEndian.PutUint32(folded[at:], code|caseBits&0xff<<24)
				ofClass[c&everyClass] |= 7 * head
				wide &^= 7 * head
				heads |= head
				continue
			}
		}

		r, length := utf8.DecodeRune(source[at : at+utf8.UTFMax])
		if length == 1 {
			t.invalid++
			wide &^= head
			continue
		}
		if at+length > blockSize {
			size = at
			break
		}
		lower := unicode.ToLower(r)
		if utf8.RuneLen(lower) != length {
			size, resized = at, true
			break
		}
		utf8.EncodeRune(folded[at:], lower)
		bytes := head<<length - head
		ofClass[classes.class(uint32(r))&^irregular&everyClass] |= bytes
		wide &^= bytes
		heads |= head
	}
	taken := uint64(1)<<size - 1
	letters |= ofClass[letter]
	marks, solos := ofClass[mark], ofClass[solo]

	// A run of marks belongs to a token if it follows a letter. The others are
	// found by adding their first bit: the carry runs through to their end and
	// leaves zeros.
	stray := marks &^ ((letters|marks)<<1 | t.open&^t.closed)
	marks &= marks + stray

	return wideBlock{
		tokens:     (letters | marks | solos) & taken,
		boundaries: (solos | solos<<1) & (heads | ^solos),
		solos:      solos,
		size:       size,
		resized:    resized,
	}
}

// foldResized folds the one code point at the beginning of window, a letter
// whose lower case has another length, and returns its length.
func (t *tokenizer) foldResized(window []byte) int {
	r, length := utf8.DecodeRune(window)
	size := utf8.EncodeRune(t.folded[t.written:], unicode.ToLower(r))
	t.advance(1<<size-1, 0, size)
	return length
}

// advance appends the starts and ends of tokens in the next size bytes of
// folded, at least one. Bit i of tokens says that byte i belongs to a token and
// bit i of boundaries that no token goes on from byte i-1 to byte i.
func (t *tokenizer) advance(tokens, boundaries uint64, size int) {
	before := tokens<<1 | t.open
	boundaries |= t.closed
	starts := tokens & (boundaries | ^before)
	ends := before & (boundaries | ^tokens) & (^uint64(0) >> (blockSize - size))

	// One loop for both: there are as many ends as starts, give or take one.
	base := uint16(t.written)
	startAt, endAt := t.starts[t.startCount:], t.ends[t.endCount:]
	t.startCount += bits.OnesCount64(starts)
	t.endCount += bits.OnesCount64(ends)
	for i := 0; starts|ends != 0; i++ {
		startAt[i] = base + uint16(bits.TrailingZeros64(starts))
		endAt[i] = base + uint16(bits.TrailingZeros64(ends))
		starts &= starts - 1
		ends &= ends - 1
	}
	t.written += size
	t.open, t.closed = tokens>>(size-1)&1, 0
}

// close ends the token that is open at the end of the text, if there is one.
func (t *tokenizer) close() {
	if t.startCount > t.endCount {
		t.ends[t.endCount] = uint16(t.written)
		t.endCount++
	}
}

// keep makes room for the next chunk: of the folded text it leaves only the end
// of the token that is open, and folds what comes before into prefix.
func (t *tokenizer) keep() {
	var rest []byte
	if t.endCount > 0 {
		t.prefix = 0
	}
	if t.startCount > t.endCount {
		t.prefix, rest = foldBlocks(t.prefix, t.folded[t.starts[t.endCount]:t.written])
	}
	t.written = copy(t.folded[:], rest)
	t.startCount -= t.endCount
	t.starts[0], t.endCount = 0, 0
}
