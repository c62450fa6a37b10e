// Package difference shows two texts side by side, or as one with what only one of them has.
package difference

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Change is a stretch in which two lists of words differ: words FromA to before ToA of the one stand where words FromB to
// before ToB of the other do. One of the two may be empty.
type Change struct{ FromA, ToA, FromB, ToB int }

// Changes gives the stretches in which two lists of words differ, in order.
func Changes(a, b []string) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		i, j := 0, 0
		for {
			for i < len(a) && j < len(b) && a[i] == b[j] {
				i++
				j++
			}
			if i == len(a) && j == len(b) {
				return
			}
			nextA, nextB := meet(a, b, i, j)
			if !yield(Change{i, nextA, j, nextB}) {
				return
			}
			i, j = nextA, nextB
		}
	}
}

// meet returns the nearest places behind i and j from which both texts have the same three words. It returns
// their ends if there are none.
func meet(a, b []string, i, j int) (int, int) {
	const agree, farthest = 3, 400
	for distance := 1; distance <= farthest; distance++ {
		for x := range distance + 1 {
			p, q := i+x, j+distance-x
			if p+agree <= len(a) && q+agree <= len(b) && slices.Equal(a[p:p+agree], b[q:q+agree]) {
				return p, q
			}
		}
	}
	return len(a), len(b)
}

// Words cuts a text at white space. In scripts that put none between words, it cuts between characters.
func Words(text string) []string {
	var all []string
	for _, field := range strings.Fields(text) {
		start := 0
		for i, r := range field {
			if !isSpaceless(r) {
				continue
			}
			if start < i {
				all = append(all, field[start:i])
			}
			start = i + len(string(r))
			all = append(all, field[i:start])
		}
		if start < len(field) {
			all = append(all, field[start:])
		}
	}
	return all
}

// isSpaceless reports whether a character is of a script that puts no space between words.
func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
