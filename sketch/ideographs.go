package sketch

import (
	"unicode"
	"unicode/utf8"
)

// firstOfIdeographs is the least first byte of a Chinese character.
const firstOfIdeographs = 0xe3

// isIdeograph reports whether text begins with a Chinese character. Normalization
// leaves these apart from what comes before them.
func isIdeograph(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.Is(unicode.Unified_Ideograph, r)
}

// reachesOver reports whether what normalization makes of the end of text may
// depend on what follows: punctuation that joins words, and soft hyphens.
func reachesOver(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return joinsWords(r) || r == softHyphen
}
