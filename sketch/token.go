package sketch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/asmkernels"
)

const (
	// chunkSize is the number of bytes of a text that go through all steps before the next ones do. So the
	// results of each step stay in the first-level cache for the next step.
	chunkSize = 8 << 10

	blockSize   = asmkernels.BlockSize
	lookahead   = asmkernels.Lookahead
	tokenBlock  = asmkernels.TokenBlock
	elementBits = asmkernels.ElementBits

	// foldedSize is the room for the folded bytes of a chunk. These are the kept end of a token, the chunk up
	// to the end of its last block, and the bytes that a block or a token reads beyond. A chunk grows by half
	// if all its code points have a lower case of three bytes instead of two.
	foldedSize = tokenBlock + (chunkSize+blockSize)*3/2 + lookahead + tokenBlock

	// mostTokens is the room for the tokens of a chunk: one in two bytes, and what a block writes beyond the last.
	mostTokens = (chunkSize+blockSize)/2 + blockSize

	highBits = 0x8080808080808080

	caseBit = 0x20
)

// tokenizer folds text to lower case and finds its tokens, one chunk after the other:
//
//	fold, then close at the end of the text; read the tokens; keep
//
// Token i of the chunk is folded[starts[i]:ends[i]]. One that may continue in the next chunk has no end yet.
type tokenizer struct {
	classes *classTable

	scan         asmkernels.Scan
	folded       [foldedSize]byte
	starts, ends [mostTokens]uint16

	// long is scratch of asmkernels.Hash.Tokens.
	long [mostTokens]uint16

	hash *asmkernels.Hash

	// prefix is the hash state of that part of token 0 that was in earlier chunks and that keep has dropped.
	prefix asmkernels.Prefix

	// invalid counts the bytes that are not part of valid UTF-8.
	invalid int
}

func (t *tokenizer) reset() {
	t.scan, t.prefix, t.invalid = asmkernels.Scan{}, asmkernels.Prefix{}, 0
}

// fold reads window up to its first limit bytes or a little further. It returns how many bytes it has read, which is
// less than limit + blockSize. Window must have lookahead bytes behind limit. At the end of the text they are zero.
func (t *tokenizer) fold(window []byte, limit int) int {
	at := 0
	for {
		at += t.scan.Run(t.classes.kernel, t.folded[:], t.starts[:], t.ends[:], window[at:], limit-at)
		if at >= limit {
			return at
		}
		source := (*[lookahead]byte)(window[at:])
		folded := (*[lookahead]byte)(t.folded[t.scan.Written:])
		b := t.foldWide(source, folded, t.scan.Letters)
		if b.size > 0 {
			t.scan.Advance(t.starts[:], t.ends[:], b.tokens, b.boundaries, b.size)
			t.scan.Closed = b.solos >> (b.size - 1) & 1
			at += b.size
		}
		if b.resized {
			at += t.foldResized(window[at:])
		}
	}
}

type wideBlock struct {
	tokens     uint64 // bytes of tokens
	boundaries uint64 // bytes before which an open token ends
	solos      uint64 // bytes of code points that are tokens of their own
	size       int    // bytes of the block to take; the rest belongs to the next block
	resized    bool   // a code point whose lower case has another length follows
}

// foldWide folds the code points outside of ASCII in a block of source. It is given the mask of the ASCII
// letters, which are folded in place already.
//
// It folds code points in place, too. The block ends before a code point for which that is impossible: one
// that reaches into the next block, or one whose lower case has another length.
func (t *tokenizer) foldWide(source, folded *[lookahead]byte, letters uint64) wideBlock {
	classes := t.classes
	wide := beyondASCII(source)        // the bytes still to be looked at
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
				// The fourth byte belongs to the next code point. If that is ASCII, fold has written it
				// before. If not, it is still to be written.
				binary.LittleEndian.PutUint32(folded[at:], code|caseBit<<24)
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
		if fits := at+length <= blockSize; !fits || !foldInPlace(folded[at:], r, length) {
			size, resized = at, fits
			break
		}
		bytes := head<<length - head
		ofClass[classes.class(uint32(r))&^irregular&everyClass] |= bytes
		wide &^= bytes
		heads |= head
	}
	return t.wideBlock(letters|ofClass[letter], ofClass[mark], ofClass[solo], heads, size, resized)
}

// beyondASCII returns the mask of the bytes of a block that are not ASCII.
func beyondASCII(source *[lookahead]byte) (wide uint64) {
	for i := 0; i < blockSize; i += 8 {
		wide |= asmkernels.GatherHighBits(binary.LittleEndian.Uint64(source[i:])&highBits) << i
	}
	return wide
}

func foldInPlace(folded []byte, r rune, length int) bool {
	lower := unicode.ToLower(r)
	if utf8.RuneLen(lower) != length {
		return false
	}
	utf8.EncodeRune(folded, lower)
	return true
}

// wideBlock says where tokens are in the first size bytes of a block, by the masks of the bytes of each class and of
// the first bytes of code points.
func (t *tokenizer) wideBlock(letters, marks, solos, heads uint64, size int, resized bool) wideBlock {
	taken := uint64(1)<<size - 1
	// A run of marks belongs to a token if it follows a letter. To find the other runs, add their first bit:
	// the carry passes through to their end and leaves zeros.
	stray := marks &^ ((letters|marks)<<1 | t.scan.Open&^t.scan.Closed)
	marks &= marks + stray

	return wideBlock{
		tokens:     (letters | marks | solos) & taken,
		boundaries: (solos | solos<<1) & (heads | ^solos),
		solos:      solos,
		size:       size,
		resized:    resized,
	}
}

// foldResized folds the first code point of window, whose lower case has another length. It returns its length.
func (t *tokenizer) foldResized(window []byte) int {
	r, length := utf8.DecodeRune(window)
	size := utf8.EncodeRune(t.folded[t.scan.Written:], unicode.ToLower(r))
	t.scan.Advance(t.starts[:], t.ends[:], 1<<size-1, 0, size)
	return length
}

func (t *tokenizer) close() {
	if t.scan.Starts > t.scan.Ends {
		t.ends[t.scan.Ends] = uint16(t.scan.Written)
		t.scan.Ends++
	}
}

// keep makes room for the next chunk. Of the folded text it keeps only the end of the open token, and folds
// the part before it into prefix.
func (t *tokenizer) keep() {
	var rest []byte
	if t.scan.Ends > 0 {
		t.prefix = asmkernels.Prefix{}
	}
	if t.scan.Starts > t.scan.Ends {
		t.prefix, rest = t.hash.Blocks(t.prefix, t.folded[t.starts[t.scan.Ends]:t.scan.Written])
	}
	t.scan.Written = copy(t.folded[:], rest)
	t.scan.Starts -= t.scan.Ends
	t.starts[0], t.scan.Ends = 0, 0
}

// appendHashes appends the hashes of the chunk's finished tokens.
func (t *tokenizer) appendHashes(hashes []uint64) []uint64 {
	count, known := t.scan.Ends, len(hashes)
	if count == 0 {
		return hashes
	}
	hashes = slices.Grow(hashes, count)[:known+count]
	chunk := hashes[known:]
	t.hash.Tokens(chunk, t.folded[:], t.starts[:], t.ends[:], t.long[:])
	if t.prefix != (asmkernels.Prefix{}) {
		chunk[0] = t.hash.Token(t.prefix, t.folded[t.starts[0]:t.ends[0]])
	}
	return hashes
}

// appendShingles appends the element of every run of width adjacent token hashes. It has 48 bits.
func appendShingles(elements []uint64, hash *asmkernels.Hash, tokens []uint64, width int) []uint64 {
	count := len(tokens) - width + 1
	if count <= 0 {
		return elements
	}
	known := len(elements)
	elements = slices.Grow(elements, count)[:known+count]
	hash.Shingles(elements[known:], tokens, width)
	return elements
}

// Tokens says what a token is. Sets of different tokens cannot be compared.
//
// A word is a Unicode letter or digit and the letters, digits and marks that follow it, each code point in
// lower case. Some scripts put no spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer and
// Myanmar. The kinds of tokens differ in what they make of these.
type Tokens string

const (
	// ScriptTokens are words. A code point of Han, Hiragana and Katakana is a token of its own. In a run of code points
	// of Thai, Lao, Khmer and Myanmar, a token begins at each. It is so long that a shingle has four code points for
	// each of its tokens: about as many as the words of these languages have. A shorter run is one token.
	ScriptTokens Tokens = "script"
	// SingleTokens are words. Every code point of all the scripts without spaces is a token of its own.
	SingleTokens Tokens = "single"
	// WordTokens are words in every script: a run of a script without spaces is one.
	WordTokens Tokens = "words"
	// CharacterTokens are the single letters, digits and marks of all scripts.
	CharacterTokens Tokens = "chars"
)

const runCharacters = 4

type tokenRule struct {
	classes func() *classTable
	// characters makes a token of every code point that has a class.
	characters bool
	// runs joins the code points of runs, see [ScriptTokens].
	runs bool
}

// Check returns an error if there are no tokens of that name.
func (t Tokens) Check() error {
	if _, is := tokenRules[t]; !is {
		return fmt.Errorf("must be %s, %s, %s or %s", ScriptTokens, SingleTokens, WordTokens, CharacterTokens)
	}
	return nil
}

var tokenRules = map[Tokens]tokenRule{
	ScriptTokens:    {classes: ideographTable, runs: true},
	SingleTokens:    {classes: ideographTable},
	WordTokens:      {classes: wordTable},
	CharacterTokens: {classes: ideographTable, characters: true},
}

// rule returns the rule of tokens that [Measure.check] accepts.
func (t Tokens) rule() tokenRule { return tokenRules[cmp.Or(t, WordTokens)] }

// single returns the tokens that runs are made of. Texts with the same of them in the same order have the same runs.
func (t Tokens) single() Tokens {
	if t == ScriptTokens {
		return SingleTokens
	}
	return t
}

// runLength returns the number of code points of a token in a run, for shingles of that many tokens.
func (r tokenRule) runLength(shingle int) int {
	if !r.runs {
		return 1
	}
	return shingle*(runCharacters-1) + 1
}

// readCharacters reads the next chunk of text where each code point is a token, and visits these in lower case. They
// must have the capacity of a block. It returns how many bytes it has read.
func (h *Hasher) readCharacters(text []byte, visit func(character []byte)) (read int) {
	t := &h.tokenizer
	for read < min(len(text), chunkSize) {
		r, size := utf8.DecodeRune(text[read:])
		read += size
		if r == utf8.RuneError && size == 1 {
			t.invalid++
			continue
		}
		if t.classes.class(uint32(r))&^irregular != 0 {
			visit(appendLower(t.folded[:0], text[read-size:read]))
		}
	}
	return read
}
