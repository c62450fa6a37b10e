package webtext

import (
	"bytes"

	"golang.org/x/net/html"
)

// htmlText turns HTML and XML into text. It keeps its buffers.
type htmlText struct {
	mode    Mode
	asShown bool // see [Extractor]
	reader  bytes.Reader
	text    []byte
	blocks  []block // those that have ended
	block   block   // the one at hand, which ends where the text does
	space   bool    // white space came since the last byte of text
	links   int     // open links
	skip    *tag    // the element that is skipped; nil if none is
	depth   int     // how many of its kind are open

	elements elements
	sheet    sheet                  // of the page
	isSheet  bool                   // style sheets are read, of an element style that applies
	hasSheet bool                   // they have been read
	values   map[string]string      // the attributes of the field at hand
	reversed int                    // open elements that turn text round
	styles   map[string]styleHiding // what styles hide and show, of those that were seen last
	titles   int                    // bytes of titles
	floor    floor
	ends     []end // of the elements that have ended
}

// block is a stretch of text between two tags that break lines.
type block struct {
	start, end int // bytes of the text
	linked     int // how many of them are in links
	prose      int // bytes of prose, with those before it
	isTitle    bool
	isHead     bool   // it is a heading
	why        hiding // why it could be left out
}

// end is where an element ended: the number of blocks and the bytes of prose before it.
type end struct{ blocks, prose int }

// start begins a page, whose bytes are UTF-8.
func (h *htmlText) start(dst, content []byte, mode Mode) *html.Tokenizer {
	h.reader.Reset(content)
	h.mode, h.text, h.blocks = mode, dst, h.blocks[:0]
	h.block = block{start: len(dst)}
	h.space, h.links, h.skip = false, 0, nil
	h.elements = elements{open: h.elements.open[:0], ended: h.elements.ended[:0]}
	h.ends = h.ends[:0]
	h.titles, h.reversed = 0, 0
	h.floor.start()
	return html.NewTokenizer(&h.reader)
}

func (h *htmlText) finish() (text []byte) {
	h.endBlock()
	h.floor.endBlock()
	text, h.text = h.text, nil
	return text
}

// append appends the text of a page of HTML. It reads the page again without a rule that leaves out too much of it.
func (h *htmlText) append(dst, content []byte, mode Mode) []byte {
	h.sheet, h.hasSheet, h.floor = sheet{}, false, floor{isAll: mode != Main}
	if h.floor.isAll {
		h.floor.void = asides | linked
	}
	text := h.read(dst, content, mode)
	if h.hasSheet = true; h.sheet.hides && h.sheet.isLate {
		text = h.read(dst, content, mode)
	}
	for h.floor.lower(len(text) > len(dst)+h.titles) {
		text = h.read(dst, content, mode)
	}
	return append(text, h.sheet.texts...)
}

func (h *htmlText) read(dst, content []byte, mode Mode) (text []byte) {
	tokens := h.start(dst, content, mode)
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: to read memory does not fail
			return h.keepContent(h.finish(), len(dst))
		case html.TextToken:
			if h.skip == nil {
				h.addText(tokens.Text())
			} else if h.isSheet && !h.hasSheet {
				sheet := tokens.Text()
				if h.sheet.add(sheet); h.asShown {
					h.sheet.addTexts(sheet)
				}
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

// begin handles a start tag, which may have a slash at its end. Browsers take no heed of that, but skipped elements
// such as images may have no other end.
func (h *htmlText) begin(tokens *html.Tokenizer, isClosed bool) {
	raw := tokens.Raw()[len("<"):]
	t := h.tagOf(raw)
	isForeignPart := h.elements.isForeign()
	if isForeignPart {
		tokens.NextIsNotRawText()
		if t.is(isBreakout) {
			h.elements.leaveForeign()
			isForeignPart = false
		}
	}
	if h.skip != nil && h.skip.is(isForeign) {
		tokens.NextIsNotRawText() // no element of SVG is a script
		if t.is(isBreakout) {
			h.skip = nil
		}
	}
	if h.skip != nil {
		if t == h.skip && !isClosed {
			h.depth++
		}
		return
	}
	if t == noScript {
		tokens.NextIsNotRawText()
	}
	isSkipped := t.is(isSkipped) && !(h.asShown && t.is(isForeign))
	switch {
	case isClosed:
	case isSkipped:
		h.skip, h.depth, h.isSheet = t, 1, t == style && appliesAlways(raw)
	case t.is(isLink):
		h.links++
	case t == override && bytes.EqualFold(attributeOf(upToEnd(raw), "dir"), []byte("rtl")):
		h.reversed++
		h.addText(rightToLeft)
	}
	var hides, shows hiding
	isOpened := h.skip == nil && !isSkipped
	if isOpened {
		hides, shows = h.ownHiding(tokens, t, raw)
		if t == svg && hasNoRoom(upToEnd(raw)) {
			hides |= gone
		}
	}
	if h.breaks(t, hides) {
		h.endBlock()
		h.block.isTitle, h.block.isHead = t.is(isTitle) && !isClosed, t.is(isHeading)
	}
	if isOpened && !(isForeignPart && isClosed) {
		h.open(t, raw, isClosed, hides, shows)
	}
}

func (h *htmlText) open(t *tag, raw []byte, isClosed bool, hides, shows hiding) {
	name, aside := elementOf(t, raw), hiding(0)
	if !isClosed {
		aside = t.asideOf(raw)
	}
	isPassword := t == input && bytes.EqualFold(attributeOf(upToEnd(raw), "type"), []byte("password"))
	h.floor.asks = h.floor.asks || isPassword && (hides|h.elements.hidden())&unseen == 0
	switch {
	case aside == mainRole:
		aside, shows = 0, shows|asides
	case t == header && h.elements.parts > 0: // of an article, and not of the page
		aside = 0
	}
	if t.is(isColoured) {
		shows |= colourless
	}
	if t.is(isSized) {
		shows |= tiny
	}
	own := t.hides
	if h.asShown {
		own &^= h.showAttributes(t, raw, hides)
	}
	h.elements.blocks = len(h.blocks)
	h.elements.begin(name, hides|own|aside, shows|t.shows)
	h.noteEnds()
}

// noteEnds notes the elements that have ended which hold more than a few lines.
func (h *htmlText) noteEnds() {
	for _, first := range h.elements.ended {
		if prose := h.proseBefore(len(h.blocks)) - h.proseBefore(first); prose >= fewLines {
			h.ends = append(h.ends, end{len(h.blocks), prose})
		}
	}
	h.elements.ended = h.elements.ended[:0]
}

func (h *htmlText) proseBefore(block int) int {
	if block == 0 {
		return 0
	}
	return h.blocks[block-1].prose
}

// style holds a style sheet. override turns its text round, as the two characters do that stand for it in the text.
var (
	style, override            = tags["style"], tags["bdo"]
	input, noScript, header    = tags["input"], tags["noscript"], tags["header"]
	pageTitle                  = tags["title"]
	rightToLeft, endOfOverride = []byte("\u202e"), []byte("\u202c")
)

// end handles an end tag, after its opening bracket and slash.
func (h *htmlText) end(raw []byte) {
	t := h.tagOf(raw)
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
	if t.is(isLink) {
		h.links = max(h.links-1, 0)
	}
	if t == form {
		h.elements.endForm()
	}
	h.elements.last = 0
	h.elements.end(elementOf(t, raw))
	if h.breaks(t, h.elements.last) {
		h.endBlock()
	}
	h.noteEnds()
}

// breaks reports whether a tag of an element that is hidden in some ways ends a line. Within what is left out it does
// not, and the tags of what has no box do not.
func (h *htmlText) breaks(t *tag, own hiding) bool {
	if t.is(isBreaking) {
		h.floor.endBlock()
	}
	return t.is(isBreaking) && (t.is(isTitle) || (h.elements.hidden()|own&gone)&^h.floor.void == 0)
}

func (h *htmlText) addText(piece []byte) {
	if why := h.elements.hidden() &^ h.floor.void; why != 0 && !h.block.isTitle {
		h.floor.leaveOut(why, len(bytes.TrimSpace(piece)), h.links > 0)
		return
	}
	h.block.why = h.elements.hidden()
	before := len(h.text)
	for len(piece) > 0 {
		n := 0
		for n < len(piece) && isSeen(piece[n]) {
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
		for n = 0; n < len(piece) && !isSeen(piece[n]); n++ {
			h.space = h.space || isSpace(piece[n])
		}
		piece = piece[n:]
	}
	if h.links > 0 {
		h.block.linked += len(h.text) - before
	}
}

// isSeen reports whether a byte is of a character that is seen. A control is not, and it is no space either.
func isSeen(c byte) bool { return c > ' ' && c != 0x7f }

func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f')
}

func (h *htmlText) endBlock() {
	h.space = false
	if len(h.text) > h.block.start {
		h.block.end = len(h.text)
		h.text = append(h.text, '\n')
		if h.block.isTitle {
			h.titles += len(h.text) - h.block.start
		}
		h.block.prose = h.proseBefore(len(h.blocks))
		if n := h.block.end - h.block.start; !h.block.isTitle && n >= shortBlock &&
			float64(h.block.linked) <= mostLinked*float64(n) {
			h.block.prose += n
		}
		h.blocks = append(h.blocks, h.block)
	}
	h.block = block{start: len(h.text)}
}

// keepContent keeps the title and the blocks that are content, of the text that starts at an offset.
func (h *htmlText) keepContent(text []byte, start int) []byte {
	end, last := start, h.lastContent()
	for i, b := range h.blocks {
		isContent := !b.isTitle && h.isContent(i) && i < last
		h.floor.add(b, isContent)
		if isContent || b.isTitle || h.floor.void&linked != 0 {
			end += copy(text[end:], text[b.start:b.end+len("\n")])
		}
	}
	return text[:end]
}

// lastContent returns behind which block no content comes: where the first element ends that holds most of the prose.
// Comments, and teasers of other pages, come behind it.
func (h *htmlText) lastContent() int {
	if all := h.proseBefore(len(h.blocks)); h.mode == Main {
		for _, end := range h.ends {
			if float64(end.prose) >= mostProse*float64(all) {
				return end.blocks
			}
		}
	}
	return len(h.blocks)
}

const (
	// most of a block that is content may be in links.
	mostLinked = .4
	// A block shorter than this, in bytes, is content only next to blocks that are no lists of links.
	shortBlock = 60
	// more of a list of links than this is in links.
	listLinked = .5
	// The element that holds as much of the prose of a page holds its main text.
	mostProse = .75
	// An element with less prose than this, in bytes, holds none.
	fewLines = 200
)

// isContent reports whether a block is content: it is not mostly links, and is no short line next to such a block,
// which is what menus and lists of other pages look like. A heading before it may be a link.
func (h *htmlText) isContent(i int) bool {
	if h.linked(i) > mostLinked {
		return false
	}
	length := h.blocks[i].end - h.blocks[i].start
	return length >= shortBlock || (h.linked(i-1) <= listLinked || h.blocks[i-1].isHead) && h.linked(i+1) <= listLinked
}

// linked returns how much of a block is in links, as a fraction of its bytes; 0 if there is no such block.
func (h *htmlText) linked(i int) float64 {
	if i < 0 || i >= len(h.blocks) {
		return 0
	}
	b := h.blocks[i]
	return float64(b.linked) / float64(b.end-b.start)
}
