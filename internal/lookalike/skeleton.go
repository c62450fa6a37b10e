package lookalike

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// looks maps letters and digits to the Latin letters that they look like in a usual font. Letters with marks need no
// entry: their marks are dropped.
var looks = looksOf(map[rune]string{
	'a': "а α ɑ @ 4", 'b': "Ь в ь", 'c': "с ϲ ᴄ", 'd': "ԁ ɗ", 'e': "е є ё ҽ 3 ℮", 'f': "ƒ ϝ", 'g': "ɡ ց 9", 'h': "һ հ н", 'i': "і ι ɩ ı ! |",
	'j': "ј ϳ", 'k': "κ к ĸ", 'l': "1 ӏ ا І Ι ł ǀ", 'm': "м", 'n': "п ո ռ", 'o': "о ο σ օ ס ø 0", 'p': "р ρ", 'q': "ԛ", 'r': "г ɾ", 's': "ѕ 5 $",
	't': "т τ ŧ 7", 'u': "υ ս ц", 'v': "ν ѵ", 'w': "ԝ ω ш ѡ ɯ", 'x': "х χ", 'y': "у γ ү", 'z': "ᴢ ʐ 2",
})

// pairs are letters that look like one other letter.
var pairs = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "ii", "u", "ß", "b", "æ", "ae", "œ", "oe")

// looksOf turns the table around.
func looksOf(like map[rune]string) map[rune]rune {
	table := map[rune]rune{}
	for letter, others := range like {
		for other := range strings.FieldsSeq(others) {
			for _, r := range other {
				table[r] = letter
			}
		}
	}
	return table
}

// Skeleton returns what a name looks like: two names with one skeleton look much the same. It is no name itself. The
// letters i and l are one.
func Skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		if r >= 0x300 && r < 0x370 {
			continue // a mark
		}
		if letter, is := looks[r]; is {
			r = letter
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(pairs.Replace(b.String()), "i", "l")
}
