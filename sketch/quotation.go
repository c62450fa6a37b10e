package sketch

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// mostUnclosed is how many bytes of a text an unclosed quotation mark hides at most. If its paragraph goes on
// for longer, the mark counts as a stray. So a slip of the pen hides little of a document.
const mostUnclosed = 2000

// quotationMarks says which marks close a quotation that an opening mark opens. Apostrophes and single
// quotation marks are not among them, since they cannot be distinguished.
var quotationMarks = []struct {
	open  rune
	close string
	// twoFaced marks close quotations in other languages, or both open and close them. They open only where a
	// word begins behind them and no word ends before. If nothing closes them, they are not quotation marks.
	twoFaced bool
}{
	{'"', "\"", true},
	{'\u201c', "\u201d", false},             // “English, Chinese”
	{'\u201e', "\u201c\u201d\"", false},     // „German“, „Polish”
	{'\u201d', "\u201d", true},              // ”Finnish, Swedish”
	{'\u00ab', "\u00bb", false},             // «French, Russian, Arabic»
	{'\u00bb', "\u00ab\u00bb", true},        // »Danish«, »Swedish»
	{'\u2039', "\u203a", false},             // ‹French›
	{'\u203a', "\u2039\u203a", true},        // ›German‹
	{'\u300c', "\u300d", false},             // 「Japanese, Chinese」
	{'\u300e', "\u300f", false},             // 『Japanese, Chinese』
	{'\uff62', "\uff63", false},             // ｢half-width｣
	{'\u301d', "\u301e\u301f\u201d", false}, // 〝vertical〟
}

// quotations finds what a text quotes: between quotation marks of one paragraph, and in lines that begin with >.
type quotations struct {
	text []byte
	// paragraph is where the last examined paragraph ends.
	paragraph int
	// unclosed holds for each mark the end of the paragraph in which nothing further closes it.
	unclosed []int
}

// each visits the parts of the text in order, and says whether they are quoted. The parts end at quotation
// marks and line ends. So no word is cut.
func (q *quotations) each(text []byte, visit func(begin, end int, quoted bool)) {
	q.text, q.paragraph = text, 0
	q.unclosed = append(q.unclosed[:0], make([]int, len(quotationMarks))...)
	done, at, lineBegins := 0, 0, true
	for at < len(text) {
		end := 0
		if lineBegins {
			end = q.quotedLine(at)
		}
		if end == 0 && (text[at] == '"' || text[at] >= utf8.RuneSelf) {
			end = q.quotation(at)
		}
		if end == 0 {
			lineBegins = text[at] == '\n'
			at++
			continue
		}
		if done < at {
			visit(done, at, false)
		}
		visit(at, end, true)
		lineBegins = text[end-1] == '\n'
		done, at = end, end
	}
	if done < len(text) {
		visit(done, len(text), false)
	}
}

// quotedLine returns the end of the line at the given place if it begins with > after at most three spaces, else 0.
func (q *quotations) quotedLine(at int) int {
	mark := at
	for mark < len(q.text) && q.text[mark] == ' ' && mark-at < 3 {
		mark++
	}
	if mark == len(q.text) || q.text[mark] != '>' {
		return 0
	}
	if line := bytes.IndexByte(q.text[mark:], '\n'); line >= 0 {
		return mark + line + 1
	}
	return len(q.text)
}

// quotation returns the end, behind its closing mark, of the quotation that begins at the given place, or 0.
func (q *quotations) quotation(at int) int {
	r, size := utf8.DecodeRune(q.text[at:])
	for i, mark := range quotationMarks {
		if mark.open != r || mark.twoFaced && !q.opens(at, size) {
			continue
		}
		if q.paragraph <= at {
			q.paragraph = at + paragraphEnd(q.text[at:])
		}
		end := 0
		if q.unclosed[i] < q.paragraph {
			end = q.closing(at+size, mark.close)
		}
		switch {
		case end > 0:
			return end
		case !mark.twoFaced && q.paragraph-at <= mostUnclosed:
			return q.paragraph
		}
		q.unclosed[i] = q.paragraph
		return 0
	}
	return 0
}

// closing returns where the next of the marks in the paragraph ends, or 0. A plain mark closes only where a word ends.
func (q *quotations) closing(at int, marks string) int {
	for {
		next := bytes.IndexAny(q.text[at:q.paragraph], marks)
		if next < 0 {
			return 0
		}
		at += next
		_, size := utf8.DecodeRune(q.text[at:])
		if q.text[at] != '"' || q.closes(at) {
			return at + size
		}
		at += size
	}
}

func (q *quotations) opens(at, size int) bool {
	before, _ := utf8.DecodeLastRune(q.text[:at])
	after, _ := utf8.DecodeRune(q.text[at+size:])
	if at > 0 && isWordPart(before) && !isSolo(before) {
		return false
	}
	return at+size < len(q.text) && !unicode.IsSpace(after) && !(at > 0 && closesBefore(before) && !isWordPart(after))
}

// closesBefore reports whether r ends a sentence or a clause. A mark behind it closes rather than opens.
func closesBefore(r rune) bool {
	switch r {
	case '.', ',', '!', '?', ';', ')', ']', '}':
		return true
	}
	return false
}

func (q *quotations) closes(at int) bool {
	before, _ := utf8.DecodeLastRune(q.text[:at])
	after, _ := utf8.DecodeRune(q.text[at+1:])
	return !unicode.IsSpace(before) && (at+1 == len(q.text) || !isWordPart(after) || isSolo(after))
}

// isSolo reports whether r is of a script without spaces between words.
func isSolo(r rune) bool { return ideographTable().class(uint32(r))&^irregular == solo }

// paragraphEnd returns where the first paragraph ends: at a blank line, a form feed or a paragraph separator.
func paragraphEnd(text []byte) int {
	for at := 0; at < len(text); {
		next := bytes.IndexAny(text[at:], "\n\f\u2029")
		if next < 0 {
			break
		}
		at += next
		if text[at] != '\n' {
			return at
		}
		line := at + 1
		for line < len(text) && (text[line] == ' ' || text[line] == '\t' || text[line] == '\r') {
			line++
		}
		if line < len(text) && text[line] == '\n' {
			return at
		}
		at++
	}
	return len(text)
}
