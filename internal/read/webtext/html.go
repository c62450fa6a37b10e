package webtext

import (
	"bytes"

	"golang.org/x/net/html"
)

// htmlText turns HTML and XML into text. It keeps its buffers.
type htmlText struct {
	mode   Mode
	reader bytes.Reader
	text   []byte
	blocks []block // of Main, those that have ended
	block  block   // the one at hand, which ends where the text does
	space  bool    // white space came since the last byte of text
	links  int     // open links
	skip   *tag    // the element that is skipped; nil if none is
	depth  int     // how many of its kind are open

	elements elements
	sheet    sheet                  // of the page
	isSheet  bool                   // style sheets are read, of an element style that applies
	hasSheet bool                   // they have been read
	reversed int                    // open elements that turn text round
	styles   map[string]styleHiding // what styles hide and show, of those that were seen last
	counted  hiding                 // the ways of hiding that do not matter to this reading
	unspoken int                    // bytes of text that was left out because it is not for those who listen
	unseen   int                    // and because it is hidden
	titles   int                    // bytes of titles
}

// block is a stretch of text between two tags that break lines.
type block struct {
	start, end int // bytes of the text
	linked     int // how many of them are in links
	isTitle    bool
}

// start begins a page, whose bytes are UTF-8.
func (h *htmlText) start(dst, content []byte, mode Mode) *html.Tokenizer {
	h.reader.Reset(content)
	h.mode, h.text, h.blocks = mode, dst, h.blocks[:0]
	h.block = block{start: len(dst)}
	h.space, h.links, h.skip = false, 0, nil
	h.elements = elements{open: h.elements.open[:0]}
	h.unspoken, h.unseen, h.titles, h.reversed = 0, 0, 0, 0
	return html.NewTokenizer(&h.reader)
}

// finish ends the page, and gives its text away.
func (h *htmlText) finish() (text []byte) {
	h.endBlock()
	text, h.text = h.text, nil
	return text
}

// append appends the text of a page of HTML. Text that is hidden counts if there is no other: a script shows it. Text that is
// only hidden from those who listen counts if there is hardly any other: who sees the page reads it.
func (h *htmlText) append(dst, content []byte, mode Mode) []byte {
	h.counted, h.sheet, h.hasSheet = 0, sheet{}, false
	text, hasContent := h.read(dst, content, mode)
	if h.hasSheet = true; h.sheet.hides && h.sheet.isLate {
		text, hasContent = h.read(dst, content, mode)
	}
	if h.unspoken > mostUnspoken*(len(text)-len(dst)) {
		h.counted = unspoken
		text, hasContent = h.read(dst, content, mode)
	}
	if !hasContent && mode == Main {
		text, hasContent = h.read(dst, content, All)
	}
	if !hasContent && h.unseen+h.unspoken > 0 {
		h.counted = ^hiding(0)
		text, _ = h.read(dst, content, All)
	}
	return text
}

// mostUnspoken is how many times as much text as all other a page may have that is hidden from those who listen.
const mostUnspoken = 9

// read appends the text of a page. It reports whether there is any but the title.
func (h *htmlText) read(dst, content []byte, mode Mode) (text []byte, hasContent bool) {
	tokens := h.start(dst, content, mode)
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: to read memory does not fail
			text := h.finish()
			if mode != Main {
				return text, len(text) > len(dst)+h.titles
			}
			return h.keepContent(text, len(dst))
		case html.TextToken:
			if h.skip == nil {
				h.addText(tokens.Text())
			} else if h.isSheet && !h.hasSheet {
				h.sheet.add(tokens.Text())
				h.sheet.isLate = h.sheet.isLate || len(h.text) > len(dst)+h.titles
			}
		case html.StartTagToken:
			h.begin(tokens, false)
		case html.SelfClosingTagToken:
			h.begin(tokens, true)
		case html.EndTagToken:
			h.end(tokens.Raw()[len("</"):])
		}
	}
}

// appendXML appends the text of a page of XML, a line for each element.
func (h *htmlText) appendXML(dst, content []byte) []byte {
	tokens := h.start(dst, content, All)
	tokens.AllowCDATA(true)
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return h.finish()
		case html.TextToken:
			h.addText(tokens.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			tokens.NextIsNotRawText() // no element of XML is a script
			h.endBlock()
		case html.EndTagToken:
			h.endBlock()
		}
	}
}

// begin handles a start tag, which may have a slash at its end. Browsers take no heed of that, but skipped elements such as
// images may have no other end.
func (h *htmlText) begin(tokens *html.Tokenizer, isClosed bool) {
	raw := tokens.Raw()[len("<"):]
	t := tagOf(raw)
	if h.skip != nil {
		if t == h.skip && !isClosed {
			h.depth++
		}
		return
	}
	switch {
	case isClosed:
	case t.kind == skipped, h.mode == Main && t.isAside(raw):
		h.skip, h.depth, h.isSheet = t, 1, t == style && appliesAlways(raw)
	case t.kind == link:
		h.links++
	case t == override && bytes.EqualFold(attributeOf(upToEnd(raw), "dir"), []byte("rtl")):
		h.reversed++
		h.addText(rightToLeft)
	}
	if t.breaks {
		h.endBlock()
		h.block.isTitle = t.kind == title && !isClosed
	}
	if h.skip == nil && t.kind != skipped {
		name := elementOf(t, raw)
		hides, shows := h.ownHiding(tokens, raw, t.breaks && t.rules&isPart == 0)
		if t.rules&isColoured != 0 {
			shows |= colourless
		}
		if t.rules&isSized != 0 {
			shows |= tiny
		}
		h.elements.begin(name, hides, shows)
	}
}

// style holds a style sheet. override turns its text round, as the two characters do that stand for it in the text.
var (
	style, override            = tags["style"], tags["bdo"]
	rightToLeft, endOfOverride = []byte("\u202e"), []byte("\u202c")
)

// end handles an end tag, after its opening bracket and slash.
func (h *htmlText) end(raw []byte) {
	t := tagOf(raw)
	if h.skip != nil {
		if t == h.skip {
			if h.depth--; h.depth == 0 {
				h.skip = nil
			}
		}
		return
	}
	if t == override && h.reversed > 0 {
		h.reversed--
		h.addText(endOfOverride)
	}
	h.elements.end(elementOf(t, raw))
	if t.kind == link {
		h.links = max(h.links-1, 0)
	}
	if t.breaks {
		h.endBlock()
	}
}

// addText appends a piece of text, its white space collapsed.
func (h *htmlText) addText(piece []byte) {
	switch hidden := h.elements.hidden() &^ h.counted; {
	case hidden == unspoken:
		h.unspoken += len(bytes.TrimSpace(piece))
		return
	case hidden != 0 && !h.block.isTitle:
		h.unseen += len(bytes.TrimSpace(piece))
		return
	}
	before := len(h.text)
	for len(piece) > 0 {
		n := 0
		for n < len(piece) && !isSpace(piece[n]) {
			n++
		}
		if n > 0 {
			if h.space && len(h.text) > h.block.start {
				h.text = append(h.text, ' ')
			}
			h.space = false
			h.text = append(h.text, piece[:n]...)
			piece = piece[n:]
		}
		for n = 0; n < len(piece) && isSpace(piece[n]); n++ {
			h.space = true
		}
		piece = piece[n:]
	}
	if h.links > 0 {
		h.block.linked += len(h.text) - before
	}
}

// isSpace reports whether a byte is white space of HTML.
func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f')
}

// endBlock ends the block at hand and begins the next one.
func (h *htmlText) endBlock() {
	h.space = false
	if len(h.text) > h.block.start {
		h.block.end = len(h.text)
		h.text = append(h.text, '\n')
		if h.block.isTitle {
			h.titles += len(h.text) - h.block.start
		}
		if h.mode == Main {
			h.blocks = append(h.blocks, h.block)
		}
	}
	h.block = block{start: len(h.text)}
}

// keepContent keeps the title and the blocks that are content, of the text that starts at an offset. It reports whether
// there is any content.
func (h *htmlText) keepContent(text []byte, start int) (kept []byte, hasContent bool) {
	end := start
	for i, b := range h.blocks {
		isContent := !b.isTitle && h.isContent(i)
		if isContent || b.isTitle {
			end += copy(text[end:], text[b.start:b.end+len("\n")])
		}
		hasContent = hasContent || isContent
	}
	return text[:end], hasContent
}

const (
	// most of a block that is content may be in links.
	mostLinked = .4
	// A block shorter than this, in bytes, is content only beside blocks that are no lists of links.
	shortBlock = 60
	// more of a list of links than this is in links.
	listLinked = .5
)

// isContent reports whether a block is content: it is not mostly links, and is no short line beside such a block, which is
// what menus and lists of other pages look like.
func (h *htmlText) isContent(i int) bool {
	if h.linked(i) > mostLinked {
		return false
	}
	length := h.blocks[i].end - h.blocks[i].start
	return length >= shortBlock || h.linked(i-1) <= listLinked && h.linked(i+1) <= listLinked
}

// linked returns how much of a block is in links, as a fraction of its bytes; 0 if there is no such block.
func (h *htmlText) linked(i int) float64 {
	if i < 0 || i >= len(h.blocks) {
		return 0
	}
	b := h.blocks[i]
	return float64(b.linked) / float64(b.end-b.start)
}
