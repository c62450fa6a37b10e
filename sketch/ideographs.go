package sketch

import (
	"unicode"
	"unicode/utf8"
)

// firstOfIdeographs is the smallest first byte of a Chinese character.
const firstOfIdeographs = 0xe3

// isIdeograph reports whether text begins with a Chinese character. Normalization does not join it to the
// text before it.
func isIdeograph(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.Is(unicode.Unified_Ideograph, r)
}

// reachesOver reports whether the normalized end of text may depend on the text that follows. It does for
// punctuation that joins words, and for soft hyphens.
func reachesOver(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return joinsWords(r) || r == softHyphen
}
