// Package variants tells removed documents that are about something else than the document that is kept for them from
// versions and copies of it. Variants are records of one form, such as the descriptions of a library and of its
// documentation: rare words are exchanged in them, and the rest is the same.
package variants

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// mostBytes and mostWords bound what is read of a text.
	mostBytes = 8000
	mostWords = 1200
	// mostEdits is the number of words that may be exchanged in a pair. Pairs with more are no variants.
	mostEdits = 400
	// mostCosine bounds how alike the words of two variants are, where rare words weigh more.
	mostCosine = 0.975
)

// Pair is a removed document and the one that is kept for it, by the numbers of their texts.
type Pair struct{ Removed, Kept int }

// Judge says of each pair whether it is one of variants. These have words with letters that are not all alike, by the
// frequencies of words in all texts, and
//   - each has a word that the other one lacks at two places or more, or
//   - another document was removed for the same one, and has yet another word at one of these places.
func Judge(texts []string, pairs []Pair) []bool {
	c := newCorpus(texts)
	of, hunks := map[int][]int{}, make([][]hunk, len(pairs)) // pairs by their kept document
	for i, pair := range pairs {
		of[pair.Kept] = append(of[pair.Kept], i)
		hunks[i] = compare(c.texts[pair.Kept], c.texts[pair.Removed])
	}
	are := make([]bool, len(pairs))
	for i, pair := range pairs {
		if c.cosine(pair.Kept, pair.Removed) > mostCosine {
			continue
		}
		are[i] = c.changesTwice(pair, hunks[i])
		for _, other := range of[pair.Kept] {
			are[i] = are[i] || other != i && c.hasThird(pair, hunks[i], pairs[other].Removed, hunks[other])
		}
	}
	return are
}

// word is the number of a word.
type word int

type corpus struct {
	texts   [][]word
	vectors []map[word]float64 // how much the words with letters weigh in each text
	letters []bool             // whether a word has letters
}

func newCorpus(texts []string) *corpus {
	c, numbers, frequency := &corpus{}, map[string]word{}, map[word]float64{}
	for _, text := range texts {
		var words []word
		for w := range strings.FieldsFuncSeq(strings.ToLower(text[:min(len(text), mostBytes)]), isNoWord) {
			number, known := numbers[w]
			if !known {
				number = word(len(numbers))
				numbers[w] = number
				c.letters = append(c.letters, strings.ContainsFunc(w, unicode.IsLetter))
			}
			if words = append(words, number); len(words) == mostWords {
				break
			}
		}
		vector := map[word]float64{}
		for _, w := range words {
			if c.letters[w] {
				vector[w]++
			}
		}
		for w := range vector {
			frequency[w]++
		}
		c.texts, c.vectors = append(c.texts, words), append(c.vectors, vector)
	}
	for _, vector := range c.vectors {
		for w := range vector {
			vector[w] *= math.Log(float64(len(texts)+1) / frequency[w])
		}
	}
	return c
}

func isNoWord(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) && r != '_' }

// cosine returns the cosine of the angle between the words of two texts, 1 if one has none.
func (c *corpus) cosine(a, b int) float64 {
	product := func(a, b map[word]float64) (sum float64) {
		for _, w := range sortedKeys(a) { // a sum in another order may differ
			sum += a[w] * b[w]
		}
		return sum
	}
	x, y := c.vectors[a], c.vectors[b]
	if squares := product(x, x) * product(y, y); squares > 0 {
		return product(x, y) / math.Sqrt(squares)
	}
	return 1
}

func sortedKeys(of map[word]float64) []word {
	keys := make([]word, 0, len(of))
	for w := range of {
		keys = append(keys, w)
	}
	slices.Sort(keys)
	return keys
}

// lettered returns the distinct words with letters of a part of a text.
func (c *corpus) lettered(part []word) map[word]bool {
	words := map[word]bool{}
	for _, w := range part {
		if c.letters[w] {
			words[w] = true
		}
	}
	return words
}

func (c *corpus) changesTwice(pair Pair, hunks []hunk) bool {
	var twice [2]bool
	for side, text := range [2][]word{c.texts[pair.Kept], c.texts[pair.Removed]} {
		at := map[word]int{}
		for _, h := range hunks {
			for w := range c.lettered(text[h.from[side]:h.to[side]]) {
				at[w]++
				twice[side] = twice[side] || at[w] > 1
			}
		}
	}
	return twice[0] && twice[1]
}

// hasThird reports whether a third document differs from both of a pair at one place, given what is exchanged between
// the kept document and each of the two others.
func (c *corpus) hasThird(pair Pair, hunks []hunk, third int, others []hunk) bool {
	for _, h := range hunks {
		kept := c.lettered(c.texts[pair.Kept][h.from[0]:h.to[0]])
		removed := c.lettered(c.texts[pair.Removed][h.from[1]:h.to[1]])
		if len(kept) == 0 || len(removed) == 0 {
			continue
		}
		for _, o := range others {
			if o.from[0] >= h.to[0] || h.from[0] >= o.to[0] {
				continue
			}
			isNew, isRemoved := false, false
			for w := range c.lettered(c.texts[third][o.from[1]:o.to[1]]) {
				isNew, isRemoved = isNew || !kept[w] && !removed[w], isRemoved || removed[w]
			}
			if isNew && !isRemoved {
				return true
			}
		}
	}
	return false
}

// hunk is a place where two texts differ: a range of words of each. One of them may be empty.
type hunk struct{ from, to [2]int }

// compare returns where two texts differ, in the fewest words, by the algorithm of Myers; nil if these are too many.
func compare(a, b []word) (hunks []hunk) {
	furthest := make([]int, 2*mostEdits+3) // in a, by diagonal
	at := func(diagonal int) *int { return &furthest[diagonal+mostEdits+1] }
	var steps [][]int // what furthest was before each number of edits, for the diagonals that these reach
	for edits := range mostEdits + 1 {
		steps = append(steps, slices.Clone(furthest[mostEdits-edits:mostEdits+edits+3]))
		for diagonal := -edits; diagonal <= edits; diagonal += 2 {
			x := *at(diagonal - 1) + 1
			if diagonal == -edits || diagonal != edits && *at(diagonal - 1) < *at(diagonal + 1) {
				x = *at(diagonal + 1)
			}
			for x < len(a) && x-diagonal < len(b) && a[x] == b[x-diagonal] {
				x++
			}
			if *at(diagonal) = x; x >= len(a) && x-diagonal >= len(b) {
				return trace(steps, len(a), len(b))
			}
		}
	}
	return nil
}

// trace follows the edits back from the ends of the texts.
func trace(steps [][]int, x, y int) (hunks []hunk) {
	for edits := len(steps) - 1; edits > 0; edits-- {
		before, diagonal := steps[edits], x-y
		at := func(diagonal int) int { return before[diagonal+edits+1] }
		previous := diagonal - 1
		if diagonal == -edits || diagonal != edits && at(diagonal-1) < at(diagonal+1) {
			previous = diagonal + 1
		}
		fromX, fromY := at(previous), at(previous)-previous
		toX, toY := fromX, fromY+1
		if previous < diagonal {
			toX, toY = fromX+1, fromY
		}
		if n := len(hunks); n > 0 && hunks[n-1].from == [2]int{toX, toY} {
			hunks[n-1].from = [2]int{fromX, fromY}
		} else {
			hunks = append(hunks, hunk{[2]int{fromX, fromY}, [2]int{toX, toY}})
		}
		x, y = fromX, fromY
	}
	slices.Reverse(hunks)
	return hunks
}
