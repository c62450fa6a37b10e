package sketch

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Identity says when two texts are the same.
type Identity string

const (
	// SameBytes takes texts for the same if they have the same bytes.
	SameBytes Identity = "bytes"
	// SameWords takes texts for the same if they have the same tokens in the same order, after normalization.
	SameWords Identity = "words"
)

// Identified is what an [Identifier] makes of a document. Of documents that are the same it is the same.
type Identified struct {
	// Digest and Check are the halves of a 128-bit hash.
	Digest, Check uint64
	// IsEmpty says that there is no token where tokens are compared. Digest is then of the bytes of the texts.
	IsEmpty bool
	// IsValid is false if some bytes are not part of valid UTF-8.
	IsValid bool
}

// identitySeed keeps identities and the digests of sets apart.
const identitySeed = 0x6964656e74697479

// Identifier finds documents that are the same. It takes a fraction of the time of a [Fingerprinter], as it makes no
// shingles. It reuses its buffers and must not be used by two goroutines at a time.
type Identifier struct {
	identity Identity
	seed     uint64
	prepare  preparation
	hasher   *Hasher
	tokens   []uint64
	bytes    []byte
}

// NewIdentifier returns an Identifier. Of the options it heeds the seed and, if tokens are compared, what concerns
// tokens. Shingles that require a stop word are an error.
func NewIdentifier(o Options, identity Identity) (*Identifier, error) {
	i := &Identifier{identity: identity, seed: o.Measure.Seed ^ identitySeed}
	switch {
	case identity == SameBytes:
		return i, nil
	case identity != SameWords:
		return nil, fmt.Errorf("unknown identity %q: take %s or %s", identity, SameBytes, SameWords)
	case o.StopWords != nil && o.StopWordUse != RemoveStopWords:
		return nil, fmt.Errorf("same words: there are no shingles that could require a stop word: take stop words out, or leave them in")
	}
	var err error
	i.hasher, err = NewHasher(Measure{Shingle: 1, Tokens: o.Measure.Tokens.single(), Seed: o.Measure.Seed})
	if err != nil {
		return nil, err
	}
	i.hasher.budget = o.Budget
	i.prepare, err = newPreparation(o)
	return i, err
}

// Texts identifies a document of these texts, each of which has its place: "a" and "b" are not "b" and "a".
func (i *Identifier) Texts(texts [][]byte) Identified {
	d := Identified{IsValid: true}
	if i.identity == SameBytes {
		for _, text := range texts {
			d.IsValid = d.IsValid && utf8.Valid(text)
		}
		return d.of(i.content(texts), i.seed)
	}
	i.tokens = i.tokens[:0]
	for _, text := range texts {
		before := len(i.tokens)
		i.tokens = i.hasher.appendTokens(i.tokens, i.prepare.apply(text))
		d.IsValid = d.IsValid && i.hasher.tokenizer.invalid == 0
		i.tokens = append(i.tokens, uint64(len(i.tokens)-before))
	}
	if d.IsEmpty = len(i.tokens) == len(texts); d.IsEmpty {
		return d.of(i.content(texts), textSeed)
	}
	return d.of(unsafe.Slice((*byte)(unsafe.Pointer(&i.tokens[0])), 8*len(i.tokens)), i.seed)
}

// of returns the identity of content.
func (d Identified) of(content []byte, seed uint64) Identified {
	hash := xxh3.Hash128Seed(content, seed)
	d.Digest, d.Check = hash.Lo, hash.Hi
	return d
}

// content returns the bytes of texts so that different texts have different bytes.
func (i *Identifier) content(texts [][]byte) []byte {
	if len(texts) == 1 {
		return texts[0]
	}
	i.bytes = i.bytes[:0]
	for _, text := range texts {
		i.bytes = binary.LittleEndian.AppendUint64(i.bytes, uint64(len(text)))
		i.bytes = append(i.bytes, text...)
	}
	return i.bytes
}

// appendTokens appends the hashes of the tokens of text, in their order.
func (h *Hasher) appendTokens(tokens []uint64, text []byte) []uint64 {
	h.tokenizer.reset()
	for at := 0; at < len(text); {
		h.tokens = h.tokens[:0]
		at += h.readTokens(text[at:])
		if !h.budget.take(tokenBytes * len(h.tokens)) {
			break
		}
		tokens = append(tokens, h.tokens...)
	}
	return tokens
}
