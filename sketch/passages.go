package sketch

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// MostGap is how many words may be between two copied stretches of one span, in either text: words that
	// were put in, taken out or replaced. The shorter stretch must have more words than the gap. So a word
	// that happens to follow in both texts makes no span longer.
	MostGap = 10

	// LeastSpan is the number of common words in the shortest span that is reported. Shorter ones occur in
	// texts that have nothing to do with each other. The longest span of a pair is reported in any case.
	LeastSpan = 8

	// mostInOrder bounds the stretches at places that are paired in order, in multiples of the lengths of the texts.
	mostInOrder = 4

	// mostBeside bounds the stretches found next to another one on its diagonal, in multiples of its length.
	mostBeside = 8

	// mostOpen is how many earlier spans are tried when a stretch may continue one of them.
	mostOpen = 32
)

// Span is a passage that two texts have in common except for small changes. Offsets are in bytes of the
// texts, from the beginning of the first word to the end of the last.
type Span struct {
	StartA, EndA, StartB, EndB uint32
	// Words is the number of words of the passage in the text where it has fewer. It includes changed words.
	Words uint32
}

// Swap returns the span with the texts exchanged.
func (s Span) Swap() Span {
	return Span{StartA: s.StartB, EndA: s.EndB, StartB: s.StartA, EndB: s.EndA, Words: s.Words}
}

// stretch is a run of adjacent shingles that two sequences have in common.
type stretch struct {
	a, b, length int
	weight       int // the length of the longest stretch near it
}

// chain is a span that may be continued, given by its first and last shingles.
type chain struct {
	firstA, lastA, firstB, lastB int
	words                        int // common words
}

// Spans returns the passages that the last compared sequences have in common, longest first. Equally long ones are in
// the order of the first sequence. They belong to the Matcher, which overwrites them in the next call.
//
// A stretch is a run of shingles that follow each other in both texts. Spans takes the longest stretches
// first, together with those that form a span with them. From each it takes the shingles that no longer
// stretch has claimed in either text. Then it takes stretches that are another copy of a passage in only one
// of the texts. It joins stretches that are near each other in both texts to spans; see [MostGap].
//
// This is the greedy string tiling of plagiarism detection. It is seeded with shingles. If these are frequent, it is
// seeded with the longest runs of frequent shingles. A common run of n words, with n at least [LeastSpan], gives a span
// of at least n words. For texts of n shingles it takes time in proportion to n log n, whatever repeats in them.
func (m *Matcher) Spans() []Span {
	// Shingles that are too isolated for a reported span are left out, unless no span is found without them.
	m.nearA, m.nearB = m.near(m.a, m.inA, m.nearA), m.near(m.b, m.inB, m.nearB)
	if m.find(m.nearA, m.nearB); len(m.spans) == 0 {
		m.find(m.inA, m.inB)
		m.tellLongest()
	}
	if m.swapped {
		for i := range m.spans {
			m.spans[i] = m.spans[i].Swap()
		}
	}
	slices.SortFunc(m.spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(y.Words, x.Words), cmp.Compare(x.StartA, y.StartA), cmp.Compare(x.StartB, y.StartB))
	})
	return m.spans
}

func (m *Matcher) find(inA, inB bitSet) {
	m.seed(inA, inB)
	m.extend()
	m.choose()
	m.join()
	m.tell()
}

// extend finds the stretches that contain seeds, and near long stretches others, whose shingles are frequent.
func (m *Matcher) extend() {
	m.stretches = m.stretches[:0]
	diagonal, end := uint64(math.MaxUint64), 0 // of the stretch before
	ordered := mostInOrder * (m.a.Len() + m.b.Len())
	for _, seed := range m.seeds {
		a, b := m.places(seed)
		if seed>>32 == diagonal && a < end || seed&1 == inOrder && ordered <= 0 {
			continue
		}
		if seed>>32 != diagonal {
			diagonal, end = seed>>32, 0
		}
		s := m.grow(a, b, end, m.a.Len())
		if seed&1 == inOrder {
			ordered -= s.length
		}
		// The search next to a stretch is bounded, so the time is in proportion to the length of any texts.
		rest := 0
		if s.length+m.shingle > LeastSpan {
			rest = mostBeside * s.length
		}
		if before, ok := m.beside(s, -1, end, rest); ok {
			m.stretches = append(m.stretches, before)
		}
		m.stretches = append(m.stretches, s)
		for rest > 0 {
			next, ok := m.beside(s, 1, s.a+s.length, rest)
			if !ok {
				break
			}
			m.stretches = append(m.stretches, next)
			// A stretch that is cut off here may reach a seed. That seed gives it again from its beginning.
			if rest -= next.length; rest > 0 {
				s = next
			}
		}
		end = s.a + s.length
	}
	m.weigh()
}

// grow returns the stretch that contains shingle a of the one sequence and b of the other. It begins at end
// or later in the first sequence, and extends over at most the given number of shingles to either side.
func (m *Matcher) grow(a, b, end, most int) stretch {
	begin, last := a, a
	for begin > end && a-begin < most-1 && m.follow(begin-1, b-(a-begin)-1) {
		begin--
	}
	for last-a < most-1 && m.follow(last, b+last-a) {
		last++
	}
	return stretch{a: begin, b: b - (a - begin), length: last - begin + 1}
}

// beside returns at most the given number of shingles of the next stretch on the diagonal of s that may be in one span
// with it, before s or behind it.
func (m *Matcher) beside(s stretch, side, end, most int) (stretch, bool) {
	if most == 0 {
		return stretch{}, false
	}
	a, b := s.a, s.b
	if side > 0 {
		a, b = a+s.length-1, b+s.length-1
	}
	for range MostGap + m.shingle {
		a, b = a+side, b+side
		if a < end || b < 0 || a >= m.a.Len() || b >= m.b.Len() {
			break
		}
		if m.a.Shingles[a] == m.b.Shingles[b] {
			other := m.grow(a, b, end, most)
			if side > 0 {
				return other, m.joins(s, other)
			}
			return other, m.joins(other, s)
		}
	}
	return stretch{}, false
}

func (m *Matcher) joins(s, next stretch) bool {
	gap := max(m.distance(m.a, s.a+s.length-1, next.a), m.distance(m.b, s.b+s.length-1, next.b))
	return gap <= MostGap && gap < min(s.length, next.length)+m.shingle-1
}

// weigh gives each stretch the length of the longest stretch that may be in one span with it.
func (m *Matcher) weigh() {
	for begin := 0; begin < len(m.stretches); {
		end, weight := begin+1, m.stretches[begin].length
		for end < len(m.stretches) {
			s, next := m.stretches[end-1], m.stretches[end]
			if next.a-next.b != s.a-s.b || !m.joins(s, next) {
				break
			}
			weight = max(weight, next.length)
			end++
		}
		for i := range m.stretches[begin:end] {
			m.stretches[begin+i].weight = weight
		}
		begin = end
	}
}

// follow reports whether shingle a of the one sequence equals shingle b of the other, and their next
// neighbours in the texts are equal too.
func (m *Matcher) follow(a, b int) bool {
	x, y := m.a, m.b
	return a >= 0 && b >= 0 && a+1 < x.Len() && b+1 < y.Len() &&
		x.Shingles[a] == y.Shingles[b] && x.Shingles[a+1] == y.Shingles[b+1] &&
		x.Tokens[a+1] == x.Tokens[a]+1 && y.Tokens[b+1] == y.Tokens[b]+1
}

func (m *Matcher) choose() {
	slices.SortFunc(m.stretches, func(x, y stretch) int {
		switch { // lazily: this is where most of the time of choose goes
		case x.weight != y.weight:
			return y.weight - x.weight
		case x.length != y.length:
			return y.length - x.length
		}
		return byPlace(x, y)
	})
	m.chosen = m.chosen[:0]
	m.coveredA.reset(m.a.Len())
	m.coveredB.reset(m.b.Len())
	for _, s := range m.stretches {
		m.take(m.longestNew(s, 0), 1)
	}
	// Another copy in one text of a passage that the other text has only once.
	least := m.leastRun()
	for _, s := range m.stretches {
		if s.length >= least {
			m.take(m.longestNew(s, 1), least)
		}
	}
}

// byPlace orders stretches by their place in the first text, then by that in the second.
func byPlace(x, y stretch) int {
	if x.a != y.a {
		return x.a - y.a
	}
	return x.b - y.b
}

// longestNew returns the longest part of a stretch without a shingle that is covered in more than the given number of
// texts.
func (m *Matcher) longestNew(s stretch, most uint64) stretch {
	best, begin := stretch{}, 0
	for i := range s.length {
		if m.coveredA.bit(s.a+i)+m.coveredB.bit(s.b+i) > most {
			begin = i + 1
		} else if i+1-begin > best.length {
			best = stretch{a: s.a + begin, b: s.b + begin, length: i + 1 - begin}
		}
	}
	return best
}

func (m *Matcher) take(part stretch, least int) {
	if part.length < least {
		return
	}
	m.chosen = append(m.chosen, part)
	m.coveredA.addRange(part.a, part.a+part.length)
	m.coveredB.addRange(part.b, part.b+part.length)
}

func (m *Matcher) join() {
	slices.SortFunc(m.chosen, byPlace)
	m.chains = m.chains[:0]
	for _, s := range m.chosen {
		best, least := -1, math.MaxInt
		for i := len(m.chains) - 1; i >= max(len(m.chains)-mostOpen, 0); i-- {
			if gap, ok := m.gap(&m.chains[i], s); ok && gap < least {
				best, least = i, gap
			}
		}
		if best < 0 {
			m.chains = append(m.chains,
				chain{s.a, s.a + s.length - 1, s.b, s.b + s.length - 1, s.length + m.shingle - 1})
			continue
		}
		c := &m.chains[best]
		c.words += s.length + m.shingle - 1 + min(m.distance(m.a, c.lastA, s.a), m.distance(m.b, c.lastB, s.b), 0)
		c.lastA, c.lastB = s.a+s.length-1, s.b+s.length-1
	}
}

// gap returns how many words are between a chain and a stretch. It reports whether these are few enough to join them.
func (m *Matcher) gap(c *chain, s stretch) (int, bool) {
	if c.lastA >= s.a || c.lastB >= s.b {
		return 0, false
	}
	gap := max(m.distance(m.a, c.lastA, s.a), m.distance(m.b, c.lastB, s.b))
	return gap, gap <= MostGap && gap < min(c.words, s.length+m.shingle-1)
}

func (m *Matcher) distance(s *IndexedSequence, before, after int) int {
	return int(s.Tokens[after]) - int(s.Tokens[before]) - m.shingle
}

func (m *Matcher) tell() {
	m.spans = m.spans[:0]
	for _, c := range m.chains {
		if c.words >= LeastSpan {
			m.spans = append(m.spans, m.span(c))
		}
	}
}

func (m *Matcher) tellLongest() {
	if len(m.spans) > 0 || len(m.chains) == 0 {
		return
	}
	longest := m.chains[0]
	for _, c := range m.chains {
		if c.words > longest.words {
			longest = c
		}
	}
	m.spans = append(m.spans, m.span(longest))
}

func (m *Matcher) span(c chain) Span {
	words := min(m.a.Tokens[c.lastA]-m.a.Tokens[c.firstA], m.b.Tokens[c.lastB]-m.b.Tokens[c.firstB])
	return Span{
		StartA: m.a.Starts[c.firstA],
		EndA:   m.a.Ends[c.lastA],
		StartB: m.b.Starts[c.firstB],
		EndB:   m.b.Ends[c.lastB],
		Words:  words + uint32(m.shingle),
	}
}

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
