package difference

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"mirrorbeam.dev/sketch"
)

const (
	// shownBytes is how much of a text is shown.
	shownBytes = 8 << 10
	// before is how much of a text is shown before the longest passage, if the text is not shown from its beginning.
	before = 1 << 10
	// mostPassages is the number of passages that are marked.
	mostPassages = 24
)

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
func SideBySide(a, b string, shingle int, tokens sketch.Tokens) *Texts {
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
	fromA, toA := window(a, spans, func(s sketch.Span) uint32 { return s.StartA })
	fromB, toB := window(b, spans, func(s sketch.Span) uint32 { return s.StartB })
	for _, span := range spans {
		isShown := int(span.StartA) >= fromA && int(span.EndA) <= toA && int(span.StartB) >= fromB &&
			int(span.EndB) <= toB
		if isShown && len(t.Passages) < mostPassages {
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

// window returns the stretch of a text to show: its beginning or, if the longest passage is not there, the surroundings
// of that.
func window(text string, spans []sketch.Span, start func(sketch.Span) uint32) (from, to int) {
	if len(spans) > 0 && int(start(spans[0])) > shownBytes/2 && len(text) > shownBytes {
		from = int(start(spans[0])) - before
	}
	to = min(from+shownBytes, len(text))
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
