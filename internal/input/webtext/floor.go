package webtext

// hiding says in which ways text is hidden, or left out of [Main].
type hiding uint16

const (
	// gone is text that no element within can show again.
	gone hiding = 1 << iota
	// invisible text has another visibility, tiny text no size to speak of, and colourless text no colour. Elements
	// within may have another.
	invisible
	tiny
	colourless
	// unspoken text is for readers who see, and not for those who listen.
	unspoken
	// The following text is no main text: menus, headers, footers, sidebars, forms, and other elements.
	menus
	headers
	footers
	sidebars
	forms
	others
	controls
	// linked is text in blocks that are mostly links, and in short lines next to these.
	linked

	unseen     = gone | invisible | tiny | colourless
	asides     = menus | headers | footers | sidebars | forms | others | controls
	everything = unseen | unspoken | asides | linked
	// mainRole is no hiding. It says that an element is the main one.
	mainRole hiding = 1 << 15
)

// rulesOfText are the rules that leave text out and have a floor. A list of a hundred countries to select from is no
// text, so controls have none.
var rulesOfText = []hiding{unseen, unspoken, menus, headers, footers, sidebars, forms, others}

const (
	// leastShare is the share of the prose of a page that must be left: one part in this many.
	leastShare = 2
	// leastOfLinks is the share of the text of a page that must be left next to blocks of links: one part in this many.
	leastOfLinks = 10
)

// floor sees to it that rules leave enough of a page: it measures what they leave, and what they leave out.
type floor struct {
	isAll bool           // all text is wanted
	void  hiding         // the rules that do not hold for this page
	asks  bool           // what is seen asks for a password
	left  int            // bytes of prose
	seen  int            // bytes of prose that is seen
	links int            // bytes of blocks of links that are seen
	out   map[hiding]int // bytes of prose that are left out, by the reasons
	block struct {       // what is left out of the block at hand
		why           hiding
		bytes, linked int
	}
}

func (f *floor) start() {
	f.left, f.seen, f.links, f.asks = 0, 0, 0, false
	clear(f.out)
}

func (f *floor) leaveOut(why hiding, bytes int, isLinked bool) {
	if f.block.why != why {
		f.endBlock()
	}
	f.block.why = why
	f.block.bytes += bytes
	if isLinked {
		f.block.linked += bytes
	}
}

// endBlock ends a block. What is mostly links is no prose.
func (f *floor) endBlock() {
	b := &f.block
	if b.bytes > 0 && b.why&controls == 0 && float64(b.linked) <= mostLinked*float64(b.bytes) {
		if f.out == nil {
			f.out = map[hiding]int{}
		}
		f.out[b.why] += b.bytes
	}
	b.why, b.bytes, b.linked = 0, 0, 0
}

// add notes a block that is left, or left out by its links.
func (f *floor) add(b block, isContent bool) {
	switch {
	case b.isTitle, b.why&asides != 0 && f.isAll: // an aside is no prose, though it counts
	case isContent:
		if f.left += b.end - b.start; b.why&unseen == 0 {
			f.seen += b.end - b.start
		}
	case b.why&unseen == 0:
		f.links += b.end - b.start
	}
}

// lower makes one rule void if too little of the page is left: the one that leaves out most. It reports whether it did.
// hasText says whether any text but the title is left.
func (f *floor) lower(hasText bool) bool {
	all, most, mostOut := f.left, hiding(0), 0
	for why, n := range f.out {
		if !f.asks || why&unseen == 0 {
			all += n
		}
	}
	for _, rule := range rulesOfText {
		out := 0
		for why, n := range f.out {
			if why&rule != 0 {
				out += n
			}
		}
		if out > mostOut && !(rule == unseen && f.asks) {
			most, mostOut = rule, out
		}
	}
	switch {
	case mostOut >= shortBlock && leastShare*f.left < all:
		f.void |= most
	case f.void&linked == 0 && f.seen < fewLines && leastOfLinks*f.seen < f.seen+f.links:
		f.void |= linked
	case !hasText && f.void != everything:
		f.void = everything
	default:
		return false
	}
	return true
}
