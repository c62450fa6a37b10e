package sketch

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// leastPiece is how many bytes a piece of a long text has at least. Pieces fit into a core's cache.
const leastPiece = 64 << 10

// preparation is what is done to a text before it is cut into tokens. It is not for concurrent use.
type preparation struct {
	budget     *Budget
	code       *codeReader // nil: no code
	normalizer *Normalizer // nil: nothing to do
	filter     *WordFilter // nil: no word to remove
	least      int         // least length of a piece

	normalized, filtered []byte // a piece of the text
	whole                []byte
}

func newPreparation(o Options) (p preparation, err error) {
	p.budget, p.least = o.Budget, leastPiece
	if p.code, err = newCodeReader(o.Code, o.Budget); err != nil {
		return p, err
	}
	if o.Normalization != (Normalization{}) {
		if p.normalizer, err = NewNormalizer(o.Normalization); err != nil {
			return p, err
		}
		p.normalizer.budget = o.Budget
	}
	if o.StopWords != nil && o.StopWordUse == RemoveStopWords {
		p.filter, err = NewWordFilter(o.Measure, func(word []byte) bool { return !o.StopWords.Contains(word) })
	}
	return p, err
}

// each visits the text after all that is to be done to it, in pieces. All but the last end with white space. A piece is
// valid until visit returns. If that is false, each stops and returns false.
func (p *preparation) each(text []byte, visit func(piece []byte) bool) bool {
	if p.code != nil {
		text = p.code.read(text)
	}
	if p.normalizer == nil && p.filter == nil {
		return visit(text)
	}
	var held int64
	goesOn := true
	for goesOn && len(text) > 0 {
		piece := text[:p.pieceEnd(text)]
		text = text[len(piece):]
		held = p.budget.reuse(held, func() { piece = p.change(piece, len(text) == 0) }, func() {
			goesOn = visit(piece) && p.budget.goesOn()
		})
	}
	if !goesOn {
		p.budget.cut()
	}
	return goesOn
}

// change normalizes a piece and takes words out of it. It panics if the piece then ends within a word that may go on in
// the next one.
func (p *preparation) change(piece []byte, isLast bool) []byte {
	if p.normalizer != nil {
		p.normalized = p.normalizer.Append(p.normalized[:0], piece)
		piece = p.normalized
	}
	if p.filter != nil {
		p.filtered = p.filter.Append(p.filtered[:0], piece)
		p.budget.take(len(p.filtered))
		piece = p.filtered
	}
	if last, _ := utf8.DecodeLastRune(piece); len(piece) > 0 && !isLast && !unicode.IsSpace(last) {
		panic(fmt.Sprintf("sketch: a piece of a text ends with %U, and not with white space", last))
	}
	return piece
}

// apply returns the text after all that is to be done to it, valid until the next call.
func (p *preparation) apply(text []byte) []byte {
	p.whole = p.whole[:0]
	isWhole := p.normalizer == nil && p.filter == nil
	p.each(text, func(piece []byte) bool {
		if isWhole {
			text = piece
			return true
		}
		p.whole = append(p.whole, piece...)
		return p.budget.take(moving * len(piece))
	})
	if isWhole {
		return text
	}
	return p.whole
}

// pieceEnd returns where the first piece of a text ends: behind a space or the end of a line, before a character that
// belongs to nothing before it, and not within what an override shows backward. Normalized by itself, a piece becomes
// what it becomes within the text.
func (p *preparation) pieceEnd(text []byte) int {
	for at := p.least; at < len(text); at++ {
		if text[at-1] != ' ' && text[at-1] != '\n' || !beginsPiece(text[at:]) {
			continue
		}
		end, isMoved := p.normalizer.moves(text, at)
		if !isMoved {
			return at
		}
		at = end
	}
	return len(text)
}

// beginsPiece reports whether no normal form joins the first character of text to a space before it.
func beginsPiece(text []byte) bool {
	if text[0] < utf8.RuneSelf {
		return true
	}
	r, size := utf8.DecodeRune(text)
	return (r != utf8.RuneError || size > 1) && norm.NFKC.Properties(text).BoundaryBefore()
}
