// Package difference shows two texts side by side, or as one with what only one of them has.
package difference

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/sketch"
)

const (
	// before is how much of a text is shown before the longest passage, if the text is not shown from its beginning.
	before = 1 << 10
)

// Extent is how much of two texts is shown side by side: the most bytes of each, and the most passages.
type Extent struct{ Bytes, Passages int }

// Brief is what fits on a page beside other things.
func Brief() Extent { return Extent{Bytes: 8 << 10, Passages: 24} }

// Texts are two texts side by side.
type Texts struct {
	A, B Side
	// Passages are what both texts have, in the order of the first text.
	Passages []Passage
}

// Side is one of two texts.
type Side struct {
	Pieces []Piece
	// Cut says that the text goes on before or after the pieces.
	CutBefore, CutAfter bool
}

// Piece is a stretch of a text. Passage is the number, from 1, of the passage that it belongs to, or 0. Changed says
// that the other text has something else there.
type Piece struct {
	Text    string
	Passage int
	Changed bool
}

// Passage is a passage that two texts have. Number counts from 1.
type Passage struct {
	Number int
	Words  uint32
	span   sketch.Span
}

// SideBySide finds the passages that two texts have, in shingles of the given number of words, and cuts the texts at
// them. Tokens says what a word is. The result is nil if the number of words is impossible.
func SideBySide(a, b string, shingle int, tokens sketch.Tokens, most Extent) *Texts {
	sequencer, err := sketch.NewSequencer(sketch.Options{Measure: sketch.Measure{Shingle: shingle, Tokens: tokens}},
		false)
	if err != nil {
		return nil
	}
	first, second := sequenceOf(sequencer, a), sequenceOf(sequencer, b)
	matcher := sketch.NewMatcher(shingle)
	matcher.Compare(sketch.NewIndexedSequence(first), sketch.NewIndexedSequence(second))
	spans := matcher.Spans()
	t := &Texts{}
	fromA, toA := window(a, spans, most.Bytes, func(s sketch.Span) uint32 { return s.StartA })
	fromB, toB := window(b, spans, most.Bytes, func(s sketch.Span) uint32 { return s.StartB })
	for _, span := range spans {
		isShown := int(span.StartA) >= fromA && int(span.EndA) <= toA && int(span.StartB) >= fromB &&
			int(span.EndB) <= toB
		if isShown && len(t.Passages) < most.Passages {
			t.Passages = append(t.Passages, Passage{Words: span.Words, span: span})
		}
	}
	slices.SortFunc(t.Passages, func(x, y Passage) int { return cmp.Compare(x.span.StartA, y.span.StartA) })
	for i := range t.Passages {
		t.Passages[i].Number = i + 1
	}
	swapped := slices.Clone(t.Passages)
	for i := range swapped {
		swapped[i].span = swapped[i].span.Swap()
	}
	t.A = Side{Pieces: pieces(a, fromA, toA, t.Passages), CutBefore: fromA > 0, CutAfter: toA < len(a)}
	t.B = Side{Pieces: pieces(b, fromB, toB, swapped), CutBefore: fromB > 0, CutAfter: toB < len(b)}
	t.A.Pieces = markChanges(t.A.Pieces, fromA, common(first, second))
	t.B.Pieces = markChanges(t.B.Pieces, fromB, common(second, first))
	return t
}

func sequenceOf(sequencer *sketch.Sequencer, text string) sketch.Sequence {
	_, s := sequencer.Sequence([]byte(text))
	return sketch.Sequence{
		Shingles: slices.Clone(s.Shingles),
		Tokens:   slices.Clone(s.Tokens),
		Starts:   slices.Clone(s.Starts),
		Ends:     slices.Clone(s.Ends),
	}
}

type stretch struct{ from, to int }

// common returns the parts of a text that are in shingles of the other one, in their order.
func common(of, other sketch.Sequence) (parts []stretch) {
	isThere := make(map[uint64]bool, len(other.Shingles))
	for _, shingle := range other.Shingles {
		isThere[shingle] = true
	}
	for i, shingle := range of.Shingles {
		if !isThere[shingle] {
			continue
		}
		from, to := int(of.Starts[i]), int(of.Ends[i])
		if n := len(parts); n > 0 && from <= parts[n-1].to {
			parts[n-1].to = max(parts[n-1].to, to)
		} else {
			parts = append(parts, stretch{from, to})
		}
	}
	return parts
}

// markChanges cuts the passages of a text, which begins at an offset, where the other text has something else.
func markChanges(all []Piece, at int, common []stretch) (cut []Piece) {
	for _, piece := range all {
		end := at + len(piece.Text)
		if piece.Passage == 0 {
			cut, at = append(cut, piece), end
			continue
		}
		add := func(to int, changed bool) {
			if to = min(to, end); to <= at {
				return
			}
			text := piece.Text[len(piece.Text)-(end-at) : len(piece.Text)-(end-to)]
			at = to
			words := strings.TrimSpace(text)
			if !changed || words == "" {
				cut = append(cut, Piece{text, piece.Passage, false})
				return
			}
			before, after, _ := strings.Cut(text, words)
			for _, part := range []Piece{
				{before, piece.Passage, false},
				{words, piece.Passage, true},
				{after, piece.Passage, false},
			} {
				if part.Text != "" {
					cut = append(cut, part)
				}
			}
		}
		for _, part := range common {
			if part.to > at && part.from < end {
				add(part.from, true)
				add(part.to, false)
			}
		}
		add(end, true)
	}
	return cut
}

// window returns the part of a text to show: around the longest passage if that is there, else the beginning.
func window(text string, spans []sketch.Span, most int, start func(sketch.Span) uint32) (from, to int) {
	if len(spans) > 0 && int(start(spans[0])) > most/2 && len(text) > most {
		from = int(start(spans[0])) - before
	}
	to = min(from+most, len(text))
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	for from > 0 && from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	return from, to
}

// pieces cuts a stretch of a text at the passages. Where two overlap, the one that begins first has the common part.
func pieces(text string, from, to int, passages []Passage) []Piece {
	ordered := slices.Clone(passages)
	slices.SortFunc(ordered, func(x, y Passage) int { return cmp.Compare(x.span.StartA, y.span.StartA) })
	var all []Piece
	at := from
	for _, p := range ordered {
		start, end := max(int(p.span.StartA), at), int(p.span.EndA)
		if start >= end {
			continue
		}
		if at < start {
			all = append(all, Piece{Text: text[at:start]})
		}
		all = append(all, Piece{Text: text[start:end], Passage: p.Number})
		at = end
	}
	if at < to {
		all = append(all, Piece{Text: text[at:to]})
	}
	return all
}

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
