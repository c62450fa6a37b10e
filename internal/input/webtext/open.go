package webtext

import (
	"slices"
	"strings"
)

// elements are the open elements, each within the one before. Only what may hide text is told apart. They follow the
// rules of HTML for end tags that are missing or too many, so that a page looks the same here as in a browser.
type elements struct {
	open []element
	// paragraphs is how many of them are paragraphs, tables how many are tables, and parts how many are articles or the
	// main part of the page.
	paragraphs, tables int
	parts              int
	foreign, pages     int    // how many are SVG or MathML, and how many pages within these
	last               hiding // how the last element that has ended was hidden, with those around it
	blocks             int    // how many blocks of text have ended
	ended              []int  // of the elements that have ended and break lines, how many blocks had before they began
}

type element struct {
	elementName
	hides, shows hiding // its own
	hidden       hiding // with those around it
	first        int    // how many blocks had ended before it began
}

// elementName tells elements apart: by their tags or, if they have none of their own, by the beginnings of names.
type elementName struct {
	tag  *tag
	name [longestName + 2]byte
}

type rules uint16

const (
	isVoid       rules = 1 << iota // has no end
	isBlock                        // is ended by its own end tag only, and ends a paragraph
	isBound                        // bounds the elements that an end tag within it can end
	isPart                         // is a table or a part of one
	isFormatting                   // goes on behind the end of the element that it is in, unless that is a bound
	isSection                      // bounds the items that an item ends
	isColoured                     // has a colour of its own
	isSized                        // has a size of text of its own
	isForeign                      // holds elements of another language
	isBreakout                     // ends such an element where it begins
	isHeading                      // is the heading of what follows
	isSkipped                      // holds nothing to read
	isLink                         // leads to another page
	isTitle                        // holds the name of the page
	isBreaking                     // begins and ends a line
	isHolding                      // its role may say that it holds what is not the main text
)

var ruled = map[rules]string{
	isVoid: "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr",
	isBlock: `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
		header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`,
	isBound:      "applet caption foreignobject html table td th marquee object template",
	isPart:       "table tbody thead tfoot tr td th caption",
	isFormatting: "a b big code em font i nobr s small strike strong tt u",
	isSection:    "ul ol dl menu dir select div section article table td th",
	isColoured:   "a font mark button select textarea",
	isSized:      "font button select textarea",
	isForeign:    "svg math",
	isHeading:    "h1 h2 h3",
	isSkipped:    "script style svg math iframe noframes noembed",
	isLink:       "a",
	isTitle:      "title",
	// blocks begin and end lines, too
	isBreaking: "body br caption col colgroup frame frameset head html legend optgroup option select tbody td " +
		"textarea tfoot th thead title tr",
	isHolding: "div section ul ol dl table", // with end tags, so that none hides the rest of the page
	isBreakout: `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu nobr ol p pre ruby s small
		span strong strike sub sup table tt u ul var`,
}

// enders are elements whose start ends others that are open: items of one list, cells and rows of one table.
var enders = []struct{ starts, ends string }{
	{"li", "li"},
	{"dd dt", "dd dt"},
	{"option", "option"},
	{"td th", "td th"},
	{"tr", "tr"},
	{"tbody thead tfoot", "tbody thead tfoot"},
}

func addRules(at func(name string) *tag) {
	for rule, names := range ruled {
		if rule == isBlock {
			rule |= isBreaking
		}
		for name := range strings.FieldsSeq(names) {
			at(name).rules |= rule
		}
	}
	for _, ender := range enders {
		for start := range strings.FieldsSeq(ender.starts) {
			for end := range strings.FieldsSeq(ender.ends) {
				at(start).ends = append(at(start).ends, at(end))
			}
		}
	}
}

var paragraph, table, article, mainPart, form = tags["p"], tags["table"], tags["article"], tags["main"], tags["form"]

// foreignPage is the element of SVG that holds HTML.
var svg, mathML, foreignPage = tags["svg"], tags["math"], tags["foreignobject"]

func elementOf(t *tag, raw []byte) elementName {
	n := elementName{tag: t}
	if t == other {
		n.name, _ = nameOf(raw)
	}
	return n
}

// hidden returns in which ways text is hidden that is here.
func (e *elements) hidden() hiding {
	if len(e.open) == 0 {
		return 0
	}
	return e.open[len(e.open)-1].hidden
}

// mostOpen is the largest number of open elements, and mostSought how many of them an end tag is compared with.
// Browsers nest no deeper.
const mostOpen, mostSought = 1 << 14, 512

func (e *elements) begin(n elementName, hides, shows hiding) {
	if e.paragraphs > 0 && n.tag.is(isBlock) {
		e.endOne(paragraph, isBound)
	}
	for _, ended := range n.tag.ends {
		if n.tag.is(isPart) {
			e.endOne(ended, 0)
		} else {
			e.endOne(ended, isSection)
		}
	}
	if n.tag.is(isVoid) || len(e.open) == mostOpen ||
		e.tables == 0 && n.tag.is(isPart) && n.tag != table {
		return
	}
	e.open = append(e.open, element{elementName: n, hides: hides, shows: shows, first: e.blocks})
	e.settle(len(e.open) - 1)
	e.count(n.tag, 1)
}

func (e *elements) count(t *tag, n int) {
	switch t {
	case paragraph:
		e.paragraphs += n
	case table:
		e.tables += n
	case article, mainPart:
		e.parts += n
	case svg, mathML:
		e.foreign += n
	case foreignPage:
		e.pages += n
	}
}

// end closes the element that an end tag is for, and those within it. An end tag without an element ends nothing.
func (e *elements) end(n elementName) {
	if rules := n.tag.rules; rules&isPart != 0 {
		e.endOne(n.tag, 0)
		return
	} else if rules&(isBlock|isBound) != 0 {
		e.endOne(n.tag, isBound)
		return
	}
	goesOn := n.tag.is(isFormatting)
	for at := len(e.open) - 1; at >= max(0, len(e.open)-mostSought); at-- {
		open := &e.open[at]
		switch {
		case open.elementName == n && goesOn: // what is within it goes on
			e.last = open.hidden
			e.open = append(e.open[:at], e.open[at+1:]...)
			e.settle(at)
			return
		case open.elementName == n:
			e.cut(at)
			return
		case open.tag.is(isBound), !goesOn && open.tag.is(isBlock|isPart):
			return
		}
	}
}

// isForeign reports whether the elements here are of SVG or MathML, and not of a page within these.
func (e *elements) isForeign() bool { return e.foreign > 0 && (e.pages == 0 || e.foreignAt() >= 0) }

func (e *elements) foreignAt() int {
	for at := len(e.open) - 1; at >= max(0, len(e.open)-mostSought); at-- {
		switch e.open[at].tag {
		case svg, mathML:
			return at
		case foreignPage:
			return -1
		}
	}
	return -1
}

func (e *elements) leaveForeign() {
	for at := e.foreignAt(); at >= 0; at = e.foreignAt() {
		e.cut(at)
	}
}

// endForm ends what the last form is, though a cell of a table may keep the element open.
func (e *elements) endForm() {
	for at := len(e.open) - 1; at >= max(0, len(e.open)-mostSought); at-- {
		if one := &e.open[at]; one.hides&forms != 0 && one.tag == form {
			one.hides &^= forms
			e.settle(at)
			return
		}
	}
}

// endOne closes the last open element of a tag, unless a bound is within it. A table bounds what its parts can end.
func (e *elements) endOne(t *tag, bounds rules) {
	for at := len(e.open) - 1; at >= max(0, len(e.open)-mostSought); at-- {
		open := e.open[at].tag
		if open == t {
			e.cut(at)
			return
		}
		if open == table || open.rules&bounds != 0 {
			return
		}
	}
}

// cut closes the elements from one on. Elements of formatting that hide something go on, unless a bound ends.
func (e *elements) cut(at int) {
	ends, kept := e.open[at].tag.is(isBound), at
	e.last = e.open[at].hidden
	for _, one := range slices.Backward(e.open[at:]) {
		if one.tag.is(isBreaking) {
			e.ended = append(e.ended, one.first)
		}
	}
	for i := at; i < len(e.open); i++ {
		one := e.open[i]
		e.count(one.tag, -1)
		if i > at && !ends && one.tag.is(isFormatting) && one.hides != 0 {
			e.open[kept] = one
			kept++
		}
	}
	e.open = e.open[:kept]
	e.settle(at)
}

// settle says again what is hidden, from an element on.
func (e *elements) settle(from int) {
	for i := from; i < len(e.open); i++ {
		around := hiding(0)
		if i > 0 {
			around = e.open[i-1].hidden
		}
		one := &e.open[i]
		one.hidden = around&^(one.shows&^gone) | one.hides
	}
}
