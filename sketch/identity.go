package sketch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records/digest"
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
	// Digest is the first half of a SHA-256 of the seed and the bytes or tokens. So nobody can make different ones the
	// same, even if he knows the seed.
	Digest Digest
	// IsEmpty says that there is no token where tokens are compared. Digest is then of the bytes of the texts.
	IsEmpty bool
	// IsValid is false if some bytes are not part of valid UTF-8.
	IsValid bool
}

// Identifier finds documents that are the same. It takes a fraction of the time of a [Fingerprinter], as it makes no
// shingles. It reuses its buffers and must not be used by two goroutines at a time.
type Identifier struct {
	identity Identity
	seed     uint64
	prepare  preparation
	hasher   *Hasher
	sum      sum
	words    []byte
}

// NewIdentifier returns an Identifier. Of the options it heeds the seed and, if tokens are compared, what concerns
// tokens. Shingles that require a stop word are an error.
func NewIdentifier(o Options, identity Identity) (*Identifier, error) {
	i := &Identifier{identity: identity, seed: o.Measure.Seed, sum: newSum()}
	switch {
	case identity == SameBytes:
		return i, nil
	case identity != SameWords:
		return nil, fmt.Errorf("unknown identity %q: take %s or %s", identity, SameBytes, SameWords)
	case o.StopWords != nil && o.StopWordUse != RemoveStopWords:
		return nil, fmt.Errorf(
			"same words: there are no shingles that could require a stop word: take stop words out, or leave them in")
	}
	var err error
	i.hasher, err = NewHasher(Measure{Shingle: 1, Tokens: o.Measure.Tokens.single()})
	if err != nil {
		return nil, err
	}
	i.hasher.budget = o.Budget
	i.prepare, err = newPreparation(o)
	return i, err
}

// Texts identifies a document of these texts, and each has its place: "a" and "b" are not "b" and "a".
func (i *Identifier) Texts(texts [][]byte) Identified {
	d := Identified{IsValid: true}
	if i.identity == SameBytes {
		for _, text := range texts {
			d.IsValid = d.IsValid && utf8.Valid(text)
		}
		i.begin("bytes")
		d.Digest = i.sum.of(texts)
		return d
	}
	i.begin("words")
	d.IsEmpty = true
	for _, text := range texts {
		isValid, hasWords := i.addWords(text)
		d.IsValid, d.IsEmpty = d.IsValid && isValid, d.IsEmpty && !hasWords
	}
	if d.Digest = i.sum.digest(); d.IsEmpty {
		i.begin("no words")
		d.Digest = i.sum.of(texts)
	}
	return d
}

func (i *Identifier) begin(kind string) {
	i.words = binary.LittleEndian.AppendUint64(append(append(i.words[:0], kind...), 0), i.seed)
	i.sum.Reset()
	i.sum.Write(i.words)
}

// addWords adds the folded words of a text to the hash, after normalization. A zero byte, which no word contains, ends
// each word, and another one the text.
func (i *Identifier) addWords(text []byte) (isValid, hasWords bool) {
	i.hasher.tokenizer.reset()
	i.prepare.each(text, func(piece []byte) bool {
		for at := 0; at < len(piece); {
			var read int
			i.words, read = i.hasher.appendWords(i.words[:0], piece[at:])
			hasWords = hasWords || len(i.words) > 0
			i.sum.Write(i.words)
			at += read
		}
		return i.hasher.budget.goesOn()
	})
	i.words = append(i.words[:0], 0)
	i.sum.Write(i.words)
	return i.hasher.tokenizer.invalid == 0, hasWords
}

// appendWords appends the folded words of the next chunk of text, with a zero byte behind each. The word that may go on
// in the next chunk comes in parts. It returns how many bytes it has read, or more at the end of text.
func (h *Hasher) appendWords(words, text []byte) ([]byte, int) {
	t := &h.tokenizer
	if h.rule.characters {
		read := h.readCharacters(text, func(character []byte) { words = append(append(words, character...), 0) })
		return words, read
	}
	read := h.fold(text)
	if read >= len(text) {
		t.close()
	}
	words = slices.Grow(words, t.scan.Written+t.scan.Ends+tokenBlock)
	for i, end := range t.ends[:t.scan.Ends] {
		start, at := int(t.starts[i]), len(words)
		if length := int(end) - start; length <= tokenBlock {
			// Most words are short. A block is copied at once, and cut.
			words = append(words, t.folded[start:start+tokenBlock]...)[:at+length]
		} else {
			words = append(words, t.folded[start:end]...)
		}
		words = append(words, 0)
	}
	if t.scan.Starts > t.scan.Ends {
		words = append(words, t.folded[t.starts[t.scan.Ends]:t.scan.Written]...)
	}
	t.keep()
	// What is kept comes again.
	return words[:len(words)-t.scan.Written], read
}

// Digest is a keyed hash of 128 bits of a document. Documents of one digest are taken for identical.
type Digest = digest.Digest

// keysOf returns a source of keys for a purpose. Who does not know the seed cannot tell them from uniform ones.
func keysOf(purpose string, seed uint64) func() uint64 {
	secret := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("mirrorbeam "+purpose), seed))
	return rand.NewChaCha8(secret).Uint64
}

// Digester makes the digests of documents. Only one goroutine may use it at a time.
type Digester struct {
	sets *asmkernels.SetDigest
	text sum
	key  [8]byte
}

// NewDigester returns a Digester for the documents of a [Measure] of that seed.
func NewDigester(seed uint64) *Digester {
	random := keysOf("digests", seed)
	d := &Digester{sets: asmkernels.NewSetDigest(random), text: newSum()}
	binary.LittleEndian.PutUint64(d.key[:], random())
	return d
}

// of returns the digest of a set in ascending order or, if that is empty, of the texts that it is made of.
func (d *Digester) of(set []uint64, texts ...[]byte) Digest {
	if len(set) == 0 {
		return d.Texts(texts...)
	}
	return d.Set(set)
}

// Set returns the digest of a non-empty set in ascending order. Every [Document] with this set has it.
func (d *Digester) Set(set []uint64) Digest { return d.sets.Of(set) }

// Texts returns the digest of texts without a token, and each has its place: "?" and "!" are not "!" and "?". It is a
// part of a SHA-256 of the key and the bytes.
func (d *Digester) Texts(texts ...[]byte) Digest {
	d.text.Reset()
	d.text.Write(d.key[:])
	return d.text.of(texts)
}

// sum is a SHA-256 in the making.
type sum struct {
	hash.Hash
	bytes [sha256.Size]byte
}

func newSum() sum { return sum{Hash: sha256.New()} }

// of adds texts, so that different texts make different sums, and returns the digest.
func (s *sum) of(texts [][]byte) Digest {
	for _, text := range texts {
		binary.LittleEndian.PutUint64(s.bytes[:], uint64(len(text)))
		s.Write(s.bytes[:8])
		s.Write(text)
	}
	return s.digest()
}

func (s *sum) digest() Digest { return digest.Get(s.Sum(s.bytes[:0])) }
