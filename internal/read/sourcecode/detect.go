// Package sourcecode cuts program code into names, keywords, numbers, strings, marks and comments.
//
// It is no compiler. It knows of each language how its comments and strings begin and end, and which words are its
// keywords; that is all that code without comments, or without names, needs. What looks like none of these in broken code
// becomes marks and names, so every text can be cut.
//
//	language.go   what a language is
//	languages.go  the languages
//	scanner.go    the tokens of a text
//	literals.go   strings, comments and numbers, which a few languages write in ways of their own
//	detect.go     the language of a text, by what stands in it
//
// The time goes with the length of the text, whatever stands in it. Everything is a pure function of the text.
package sourcecode

import (
	"math/bits"
	"sync"
	"unicode/utf8"
)

const (
	// detectedBytes is how much of a text is looked at to find its language.
	detectedBytes = 16 << 10
	// fewestSigns is how many different signs of a language a text has at least.
	fewestSigns = 2
)

// sign is a text that stands in code of a language.
type sign struct {
	text     string
	language int
	number   int // among the signs of the language
}

// signs returns the signs of all languages by their first two bytes.
var signs = sync.OnceValue(func() *[utf8.RuneSelf * utf8.RuneSelf][]sign {
	var all [utf8.RuneSelf * utf8.RuneSelf][]sign
	for i, l := range languages() {
		for n, text := range l.signs {
			pair := pairOf(text[0], text[1])
			all[pair] = append(all[pair], sign{text, i, n})
		}
	}
	return &all
})

// pairOf returns the number of two bytes of ASCII.
func pairOf(first, second byte) int { return int(first)*utf8.RuneSelf + int(second) }

// Detect returns the language of a text, or nil if it seems to be no code. It goes by words that one language has and few
// others: the language most of whose signs stand in the text.
func Detect(text []byte) *Language {
	text = text[:min(len(text), detectedBytes)]
	found := make([]uint32, len(languages())) // a bit for each sign
	look := func(pair, at int) {
		for _, s := range signs()[pair] {
			if hasPrefix(text[at:], s.text[1:]) {
				found[s.language] |= 1 << s.number
			}
		}
	}
	before := byte('\n') // a text begins with a line
	for at, b := range text {
		if before < utf8.RuneSelf && b < utf8.RuneSelf {
			look(pairOf(before, b), at)
		}
		before = b
	}
	return mostSigns(found)
}

// mostSigns returns the language with the largest share of its signs among those that were found, or nil.
func mostSigns(found []uint32) *Language {
	var best *Language
	most := 0.
	for i, l := range languages() {
		n := bits.OnesCount32(found[i])
		if share := float64(n) / float64(len(l.signs)); n >= fewestSigns && share > most {
			best, most = l, share
		}
	}
	return best
}
