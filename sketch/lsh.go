package sketch

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// DefaultLSHWidth is the usual number of tokens in a shingle of an LSH digest.
const DefaultLSHWidth = 3

// LSHOptions say how an [LSH] computes digests. The zero value is the default for documents. The functions
// append to dst. They may keep buffers of their own: an LSH uses what they return only until their next call.
type LSHOptions struct {
	// Normalize appends the normalized text to dst. Nil is [NormalizeASCII]. [Normalizer.Append] is another choice.
	Normalize func(dst, text []byte) []byte

	// Tokenize appends the tokens of a normalized text to dst. Tokens may be parts of the text. Nil is
	// for [SplitWords]. [SplitCharacters] is another choice.
	Tokenize func(dst [][]byte, text []byte) [][]byte

	// Filter returns the tokens to keep. It may use the memory of tokens for that. Nil keeps all.
	Filter func(tokens [][]byte) [][]byte

	// Width is the number of adjacent tokens in a shingle. They are hashed one after the other with nothing
	// between them. 0 stands for [DefaultLSHWidth], 1 for a bag of words.
	Width int

	// Hash is the hash function of shingles. A digest is as long as a hash. Nil stands for MD5. Any function
	// will do: SHA-256, CRC32, FNV, xxh3.
	Hash hash.Hash
}

// LSH computes locality-sensitive digests of texts: similar texts have digests that differ in few bits. It gives the
// digests of ExLSH (Meltwater, Locality-sensitive hashing in Elixir), and all steps can be replaced. A text is
// normalized, split into tokens and filtered. Every few adjacent tokens make a shingle. A bit of the digest is set if
// it is set in the hashes of more than half of the shingles. A repeated shingle counts as often as it occurs.
//
// An LSH reuses its memory. It allocates nothing in a text unless the hash or the given functions do. Only
// one goroutine may use it at a time. It owns its hash.
type LSH struct {
	options    LSHOptions
	normalized []byte
	tokens     [][]byte
	sum        []byte // the hash of a shingle, padded to whole words
	size       int    // of a hash in bytes
	majorities []majority
	blocks     [][pendingHashes]uint64 // the hashes that are not counted yet, by word
	pending    int                     // their number
}

// NewLSH returns an LSH for o. The error says that the width is negative.
func NewLSH(o LSHOptions) (*LSH, error) {
	if o.Width < 0 {
		return nil, fmt.Errorf("shingles of %d tokens: must be 1 or more, or 0 for %d", o.Width, DefaultLSHWidth)
	}
	if o.Normalize == nil {
		o.Normalize = NormalizeASCII
	}
	if o.Tokenize == nil {
		o.Tokenize = SplitWords
	}
	if o.Width == 0 {
		o.Width = DefaultLSHWidth
	}
	if o.Hash == nil {
		o.Hash = md5.New()
	}
	words := (o.Hash.Size() + 7) / 8
	return &LSH{
		options:    o,
		sum:        make([]byte, 8*words),
		size:       o.Hash.Size(),
		majorities: make([]majority, words),
		blocks:     make([][pendingHashes]uint64, words),
	}, nil
}

// Digest returns the digest of text. It has as many bytes as a hash, with the bits in the same order. A tie gives 0, as
// in the digests that the article of ExLSH prints; its text says that a tie gives 1. A text with fewer tokens than a
// shingle gives 0 in all bits. Digest overwrites dst and uses its memory if it is large enough.
func (l *LSH) Digest(dst, text []byte) []byte {
	l.normalized = l.options.Normalize(l.normalized[:0], text)
	l.tokens = l.options.Tokenize(l.tokens[:0], l.normalized)
	tokens := l.tokens
	if l.options.Filter != nil {
		tokens = l.options.Filter(tokens)
	}
	clear(l.majorities)
	count := max(len(tokens)-l.options.Width+1, 0)
	for i := range count {
		l.add(tokens[i : i+l.options.Width])
	}
	l.flush()

	dst = slices.Grow(dst[:0], len(l.sum))
	for i := range l.majorities {
		more, _ := l.majorities[i].compare(uint64(count))
		dst = binary.LittleEndian.AppendUint64(dst, more)
	}
	return dst[:l.size]
}

func (l *LSH) add(shingle [][]byte) {
	h := l.options.Hash
	h.Reset()
	for _, token := range shingle {
		// A hash never returns an error.
		h.Write(token)
	}
	h.Sum(l.sum[:0])
	for i := range l.blocks {
		l.blocks[i][l.pending] = binary.LittleEndian.Uint64(l.sum[8*i:])
	}
	if l.pending++; l.pending == pendingHashes {
		l.flush()
	}
}

func (l *LSH) flush() {
	for i := range l.blocks {
		l.majorities[i].counters.Add(l.blocks[i][:l.pending])
	}
	l.pending = 0
}

// NormalizeASCII appends the text to dst as ExLSH normalizes it by default. It takes Unicode form NFC and
// lower case, with one space for every run of bytes that are not ASCII letters, digits or underscores.
// Nothing is left of a text in a script other than the Latin, and a letter with a mark breaks a word. So take
// another normalization for languages other than English. A text that is not in form NFC costs an allocation.
func NormalizeASCII(dst, text []byte) []byte {
	end := len(dst)
	dst = appendParts(dst, text, func(dst, valid []byte) []byte { return append(dst, norm.NFC.Bytes(valid)...) })
	composed := dst[end:]
	spaced := false
	for i, c := range composed {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == '\xc4' && bytes.HasPrefix(composed[i:], []byte("İ")) {
			// Its lower case is an i and a mark. No other lower case outside of ASCII begins with an ASCII letter.
			c = 'i'
		}
		switch {
		case c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			dst[end] = c
			end++
			spaced = false
		case !spaced:
			dst[end] = ' '
			end++
			spaced = true
		}
	}
	return dst[:end]
}

// SplitWords appends the parts of text between runs of white space to dst.
func SplitWords(dst [][]byte, text []byte) [][]byte {
	for word := range bytes.FieldsSeq(text) {
		dst = append(dst, word)
	}
	return dst
}

// SplitCharacters appends the code points of text to dst. It serves digests of short strings such as user
// names. ExLSH takes grapheme clusters, which are the same after its normalization.
func SplitCharacters(dst [][]byte, text []byte) [][]byte {
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		dst = append(dst, text[:size])
		text = text[size:]
	}
	return dst
}
