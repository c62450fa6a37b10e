package sketch

import (
	"cmp"
	"fmt"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// Measure says what the similarity of two texts compares. Sets of different measures cannot be compared.
type Measure struct {
	// Shingle is the number of adjacent tokens in a shingle. 0 stands for 1. A text
	// with fewer tokens has one shingle of all of them.
	Shingle int

	// Tokens says what a token is. The zero value stands for WordTokens.
	Tokens Tokens

	// Seed keys the hashes. Somebody who does not know it cannot craft tokens or shingles whose hashes agree: two
	// different shingles have one hash with a probability below 2^-46, whatever they are. Sets of different seeds
	// cannot be compared.
	Seed uint64
}

func (m Measure) check() error {
	if m.Shingle < 0 {
		return fmt.Errorf("shingles of %d tokens: must be 1 or more", m.Shingle)
	}
	if err := cmp.Or(m.Tokens, WordTokens).Check(); err != nil {
		return fmt.Errorf("tokens %q: %w", m.Tokens, err)
	}
	return nil
}

// Document is the fingerprint of a text.
type Document struct {
	// Set holds the distinct shingles as 48-bit hashes in ascending order. It is empty if and only if the text has no
	// token. It belongs to the Hasher, which overwrites it in the next call.
	Set []uint64

	// Digest is a keyed hash of Set, or of the bytes of the text if it has no token. Equal sets have equal digests.
	Digest Digest

	// Tokens is the number of tokens, with repetitions.
	Tokens int

	// InvalidBytes is the number of bytes that are not part of valid UTF-8. They separate tokens.
	InvalidBytes int

	// Ignored is the number of its shingles that do not count; see [Options]. They are left out of Set, which is empty
	// if hardly any other is left.
	Ignored int
}

// Hasher computes the fingerprints of texts by one measure. It reuses its buffers, which grow with the
// longest text. Only one goroutine may use it at a time.
type Hasher struct {
	shingle   int
	rule      tokenRule
	hash      *asmkernels.Hash
	digester  *Digester
	tokenizer tokenizer
	runs      runs // of the scripts of the rule
	sorter    asmkernels.SetSorter
	budget    *Budget  // nil: no limit
	tokens    []uint64 // hashes of tokens whose shingles are still to come
	elements  []uint64 // shingles in the order of the text, then the set
	// Of the text: its length, how much of it has been read, and the number of tokens there.
	length, done, count int

	// ending holds the last bytes of a text, at most lookahead, and zeros.
	ending [2 * lookahead]byte
}

// NewHasher returns a Hasher for the measure m, or an error that says what is wrong with m: a negative width of
// shingles, or tokens of a name that is not known.
func NewHasher(m Measure) (*Hasher, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	shingle, rule := max(m.Shingle, 1), m.Tokens.rule()
	length := rule.runLength(shingle)
	hash := asmkernels.NewHash(keysOf("tokens", m.Seed), shingle, length)
	return &Hasher{
		shingle:   shingle,
		rule:      rule,
		hash:      hash,
		digester:  NewDigester(m.Seed),
		runs:      runs{length: length, hash: hash},
		tokenizer: tokenizer{classes: rule.classes(), hash: hash},
	}, nil
}

// Document returns the fingerprint of text. The next call overwrites its set, but not what [Hasher.Set] returns.
//
// [Tokens] says what a token is. Two tokens are the same if their 64-bit hashes are, and two shingles if
// their 48-bit hashes are.
func (h *Hasher) Document(text []byte) Document {
	h.shingles(text)
	return h.document(text)
}

// Set returns the distinct shingles of text as [Document] has them, in memory of their own.
func (h *Hasher) Set(text []byte) []uint64 { return slices.Clone(h.Document(text).Set) }

// document returns the fingerprint of the text whose shingles have been read.
func (h *Hasher) document(text []byte) Document {
	set := h.sorter.Sort(h.elements)
	if h.budget.IsLarge() {
		// The set is packed next, and the memory of the sorter is as large.
		h.sorter = asmkernels.SetSorter{}
		h.budget.collect()
	}
	return Document{Set: set, Digest: h.digester.of(set, text), Tokens: h.count, InvalidBytes: h.tokenizer.invalid}
}

// shingles sets the elements to the shingles of text and returns the number of its tokens.
func (h *Hasher) shingles(text []byte) (tokens int) {
	h.begin(len(text))
	if h.read(text) {
		h.end()
	}
	return h.count
}

func (h *Hasher) begin(length int) {
	h.tokenizer.reset()
	h.runs.reset()
	h.tokens, h.elements = h.tokens[:0], h.elements[:0]
	h.length, h.done, h.count = length, 0, 0
}

// read reads the next piece of the text. All pieces but the last end with white space. It reports whether the text may
// go on.
func (h *Hasher) read(piece []byte) bool {
	for at := 0; at < len(piece); {
		waiting := len(h.tokens)
		read := h.readTokens(piece[at:])
		at, h.done = at+read, h.done+read
		if !h.join(waiting) {
			return false
		}
	}
	return true
}

func (h *Hasher) end() {
	waiting := len(h.tokens)
	h.tokens = h.runs.close(h.tokens)
	if h.join(waiting) && h.budget.Err() == nil && 0 < h.count && h.count < h.shingle {
		h.elements = appendShingles(h.elements, h.hash, h.tokens, len(h.tokens))
	}
}

func (h *Hasher) join(waiting int) bool {
	read := len(h.tokens) - waiting
	h.count += read
	if !h.budget.take(shingleBytes * read) {
		h.elements, h.tokens = h.elements[:0], h.tokens[:0]
		return h.budget.goesOn()
	}
	h.elements = expect(h.budget, h.elements, read, h.done, h.length)
	h.elements = appendShingles(h.elements, h.hash, h.tokens, h.shingle)
	// The last tokens are also in shingles of the next chunk.
	done := max(len(h.tokens)-(h.shingle-1), 0)
	h.tokens = h.tokens[:copy(h.tokens, h.tokens[done:])]
	return true
}

// readTokens appends the hashes of the tokens of the next chunk of text. A token that may go on in the next
// chunk comes with that one. It returns how many bytes it has read, or more at the end of text.
func (h *Hasher) readTokens(text []byte) int {
	if h.rule.characters {
		return h.readCharacters(text, func(character []byte) {
			h.tokens = append(h.tokens, h.hash.Token(asmkernels.Prefix{}, character))
		})
	}
	read := h.fold(text)
	if read >= len(text) {
		h.tokenizer.close()
	}
	waiting := len(h.tokens)
	h.tokens = h.tokenizer.appendHashes(h.tokens)
	if h.runs.length > 1 {
		h.tokens = h.runs.join(h.tokens, waiting, &h.tokenizer)
	}
	h.tokenizer.keep()
	return read
}

// fold folds the next chunk of text. It returns how many bytes it has read, or more at the end of text.
func (h *Hasher) fold(text []byte) int {
	limit := min(len(text), chunkSize)
	if len(text) >= limit+lookahead {
		return h.tokenizer.fold(text, limit)
	}
	at := 0
	if readable := len(text) - lookahead; readable > 0 {
		at = h.tokenizer.fold(text, min(readable, limit))
	}
	if at < limit {
		clear(h.ending[copy(h.ending[:], text[at:]):])
		at += h.tokenizer.fold(h.ending[:], limit-at)
	}
	return at
}
