// Package difference shows two texts side by side, or as one with what only one of them has.
package difference

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Run is a stretch of two texts that are read as one: words that both have, or words of the first text and words of the
// second that stand in their place.
type Run struct {
	Both string `json:"both,omitempty"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
	// Moved says that the second text has the stretch elsewhere in its order.
	Moved bool `json:"moved,omitempty"`
}

// Merged reads two texts as one, in the order of the first. White space is a single space. A passage that the second
// text has in another place is compared with that place.
func (t *Texts) Merged() []Run {
	var m merger
	first, second := stretches(t.A.Pieces), stretches(t.B.Pieces)
	place := map[int]int{} // of a passage among the stretches of the second text
	for i, s := range second {
		if s.passage > 0 {
			place[s.passage] = i
		}
	}
	used := make([]bool, len(second))
	farthest, onlyA := -1, ""
	for _, s := range first {
		i, isCommon := place[s.passage]
		if s.passage == 0 || !isCommon || used[i] {
			onlyA += s.text
			continue
		}
		onlyB := ""
		if i > 0 && second[i-1].passage == 0 && !used[i-1] {
			onlyB, used[i-1] = second[i-1].text, true
		}
		m.add(onlyA, onlyB, false)
		m.add(s.text, second[i].text, i < farthest)
		farthest, onlyA, used[i] = max(farthest, i), "", true
	}
	onlyB := ""
	for i, s := range second {
		if !used[i] {
			onlyB += s.text
		}
	}
	m.add(onlyA, onlyB, false)
	return m.runs
}

type part struct {
	text    string
	passage int // 0: none
}

// stretches joins the neighbouring pieces of one passage. Signs belong to the word that they follow.
func stretches(pieces []Piece) (all []part) {
	for _, p := range pieces {
		n := len(all)
		if n == 0 {
			all = append(all, part{p.Text, p.Passage})
			continue
		}
		rest := strings.TrimLeftFunc(p.Text, isSign)
		all[n-1].text += p.Text[:len(p.Text)-len(rest)]
		if all[n-1].passage == p.Passage {
			all[n-1].text += rest
		} else {
			all = append(all, part{rest, p.Passage})
		}
	}
	return all
}

func isSign(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

type merger struct{ runs []Run }

func (m *merger) add(a, b string, isMoved bool) {
	first, second := Words(a), Words(b)
	at := 0
	for c := range Changes(first, second) {
		m.put(Run{Both: Join(first[at:c.FromA]), Moved: isMoved})
		m.put(Run{A: Join(first[c.FromA:c.ToA]), B: Join(second[c.FromB:c.ToB]), Moved: isMoved})
		at = c.ToA
	}
	m.put(Run{Both: Join(first[at:]), Moved: isMoved})
}

// put appends a run, unless it is empty. It joins neighbours that both texts have.
func (m *merger) put(r Run) {
	if r.Both == "" && r.A == "" && r.B == "" {
		return
	}
	if n := len(m.runs); n > 0 && r.Both != "" && m.runs[n-1].Both != "" && m.runs[n-1].Moved == r.Moved {
		m.runs[n-1].Both = Join([]string{m.runs[n-1].Both, r.Both})
		return
	}
	m.runs = append(m.runs, r)
}

// Join writes words one behind the other, with a space between two unless their scripts put none there.
func Join(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 && IsSpaced(words[i-1], word) {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// IsSpaced reports whether a space belongs between two words.
func IsSpaced(word, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(word)
	first, _ := utf8.DecodeRuneInString(next)
	return !isSpaceless(last) || !isSpaceless(first)
}

// Change is a stretch in which two lists of words differ: words FromA to before ToA of the one stand where words FromB
// to before ToB of the other do. One of the two may be empty.
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
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}
