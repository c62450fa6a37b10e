package sketch

import (
	"fmt"
	"unicode/utf8"
)

// Tokens says what a token is. Sets of different tokens cannot be compared.
//
// A word is a Unicode letter or digit and the letters, digits and marks that follow it, each code point in
// lower case. Some scripts put no spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer and
// Myanmar. The kinds of tokens differ in what they make of these.
type Tokens string

const (
	// ScriptTokens are words. A code point of Han, Hiragana and Katakana is a token of its own. In a run of
	// code points of Thai, Lao, Khmer and Myanmar, a token begins at each. It is so long that a shingle has
	// four code points for each of its tokens: about as many as the words of these languages have. A shorter
	// run is one token.
	ScriptTokens Tokens = "script"
	// SingleTokens are words. Every code point of all the scripts without spaces is a token of its own.
	SingleTokens Tokens = "single"
	// WordTokens are words in every script: a run of a script without spaces is one.
	WordTokens Tokens = "words"
	// CharacterTokens are the single letters, digits and marks of all scripts.
	CharacterTokens Tokens = "chars"
)

const runCharacters = 4

// tokenRule is how tokens of a kind are found.
type tokenRule struct {
	// classes returns the classes of code points.
	classes func() *classTable
	// characters makes a token of every code point that has a class.
	characters bool
	// runs joins the code points of runs, see [ScriptTokens].
	runs bool
}

// Check returns an error if there are no tokens of that name.
func (t Tokens) Check() error {
	switch t {
	case ScriptTokens, SingleTokens, WordTokens, CharacterTokens:
		return nil
	}
	return fmt.Errorf("must be %s, %s, %s or %s", ScriptTokens, SingleTokens, WordTokens, CharacterTokens)
}

func (t Tokens) rule() tokenRule {
	switch t {
	case ScriptTokens:
		return tokenRule{classes: ideographTable, runs: true}
	case SingleTokens:
		return tokenRule{classes: ideographTable}
	case CharacterTokens:
		return tokenRule{classes: ideographTable, characters: true}
	}
	return tokenRule{classes: wordTable}
}

// single returns the tokens that runs are made of. Texts with the same of them in the same order have the
// same runs.
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

// readCharacters reads the next chunk of text where each code point is a token, and visits these in lower case. They must
// have the capacity of a block. It returns how many bytes it has read.
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
