package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	maxDifferences = 3
	contextWords   = 5
	longestRun     = 12 // words shown of a stretch that only one text has
)

// difference describes the first places where two texts differ, one line for each: some words before the
// place, [-what only a has-] and {+what only b has+}.
func difference(a, b []string) []string {
	var lines []string
	i, j := 0, 0
	for len(lines) < maxDifferences {
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i++
			j++
		}
		if i == len(a) && j == len(b) {
			break
		}
		nextA, nextB := meet(a, b, i, j)
		line := "... " + strings.Join(a[max(i-contextWords, 0):i], " ")
		if nextA > i {
			line += " [-" + shorten(a[i:nextA]) + "-]"
		}
		if nextB > j {
			line += " {+" + shorten(b[j:nextB]) + "+}"
		}
		lines = append(lines, line+" ...")
		i, j = nextA, nextB
	}
	return lines
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

// shorten joins words. It leaves out the middle if there are many.
func shorten(words []string) string {
	if len(words) <= longestRun {
		return strings.Join(words, " ")
	}
	half := longestRun / 2
	return fmt.Sprintf("%s ... (%d words) ... %s", strings.Join(words[:half], " "), len(words)-2*half, strings.Join(words[len(words)-half:], " "))
}

// words cuts a text at white space. In scripts that put none between words, it cuts between characters.
func words(text string) []string {
	var all []string
	for _, field := range strings.Fields(text) {
		start := 0
		for i, r := range field {
			if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
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
