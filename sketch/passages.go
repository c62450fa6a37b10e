package sketch

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// MostGap is how many words two copied stretches may have between them, in
	// either text, to be one span: words that were put in, taken out or replaced.
	// The shorter stretch must have more words than the gap, so that a word that
	// happens to follow in both texts makes no span longer.
	MostGap = 10

	// LeastSpan is the number of words in common of the shortest span worth telling:
	// what is shorter is found in texts that have nothing to do with each other. The
	// longest span of a pair is told anyway.
	LeastSpan = 8

	// mostCombined bounds the combinations of the places of a shingle in two texts
	// that are looked at. Where there are more, its places go together in their
	// order.
	mostCombined = 4

	// mostOpen is how many spans before a stretch are tried for it to go on.
	mostOpen = 32
)

// Span is a passage that two texts have in common but for small changes. Offsets
// are in bytes of the texts, from the first word to the end of the last.
type Span struct {
	StartA, EndA, StartB, EndB uint32
	// Words is the number of words in the text where it has fewer, those changed
	// among them.
	Words uint32
}

// Swap returns the span with the texts exchanged.
func (s Span) Swap() Span {
	return Span{StartA: s.StartB, EndA: s.EndB, StartB: s.StartA, EndB: s.EndA, Words: s.Words}
}

// place says where a shingle is in a sequence.
type place struct {
	shingle uint64
	at      uint32
}

// IndexedSequence is a sequence that can be matched with others.
type IndexedSequence struct {
	Sequence
	places   []place // by shingle, then in the order of the text
	distinct int
}

// NewIndexedSequence indexes s, which must not be changed afterwards.
func NewIndexedSequence(s Sequence) *IndexedSequence {
	x := &IndexedSequence{Sequence: s, places: sortedPlaces(s.Shingles)}
	for i := range x.places {
		if i == 0 || x.places[i-1].shingle != x.places[i].shingle {
			x.distinct++
		}
	}
	return x
}

// sortedPlaces returns the places of shingles by shingle, then in their order.
// Shingles being evenly spread, one pass by their leading bits leaves little to
// sort.
func sortedPlaces(shingles []uint64) []place {
	width := max(min(bits.Len(uint(len(shingles)))-2, 20), 1)
	shift := elementBits - width
	ends := make([]uint32, 1<<width+1)
	places := make([]place, len(shingles))
	for _, shingle := range shingles {
		ends[shingle>>shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	for i, shingle := range shingles {
		places[ends[shingle>>shift]] = place{shingle, uint32(i)}
		ends[shingle>>shift]++
	}
	start := uint32(0)
	for _, end := range ends[:len(ends)-1] {
		if end-start > 1 {
			slices.SortFunc(places[start:end], func(a, b place) int {
				return cmp.Or(cmp.Compare(a.shingle, b.shingle), cmp.Compare(a.at, b.at))
			})
		}
		start = end
	}
	return places
}

// Distinct returns the number of distinct shingles.
func (x *IndexedSequence) Distinct() int { return x.distinct }

// stretch is a run of adjacent shingles that two sequences have in common.
type stretch struct{ a, b, length int }

// chain is a span that may go on: its first and last shingles.
type chain struct {
	firstA, lastA, firstB, lastB int
	words                        int // that are in both
}

// Matcher finds what two texts have in common. It reuses its buffers and must not
// be used by two goroutines at a time.
type Matcher struct {
	shingle            int
	a, b               *IndexedSequence
	seeds              []uint64
	stretches, chosen  []stretch
	coveredA, coveredB []bool
	chains             []chain
	spans              []Span
}

// NewMatcher returns a Matcher of sequences of shingles of so many tokens.
func NewMatcher(shingle int) *Matcher { return &Matcher{shingle: max(shingle, 1)} }

// Match returns how many distinct shingles a and b have in common, and the spans,
// longest first, then in the order of a. The spans belong to the Matcher, which
// overwrites them in the next call.
//
// Stretches of shingles that follow each other in both texts are taken longest
// first, each as far as no longer one holds its shingles in either text; then those
// of which one text has another copy. Those near each other in both are joined to
// spans; see [MostGap]. This is the greedy string tiling of plagiarism detection,
// seeded with shingles. It takes time for the length of the texts, whatever repeats
// in them.
func (m *Matcher) Match(a, b *IndexedSequence) (shared int, spans []Span) {
	// Ties are broken by places in the first one, so that must not be a matter of
	// the order of the arguments.
	swapped := cmp.Or(cmp.Compare(a.Len(), b.Len()), slices.Compare(a.Shingles, b.Shingles)) > 0
	if swapped {
		a, b = b, a
	}
	m.a, m.b = a, b
	shared = m.seed()
	m.extend()
	m.choose()
	m.join()
	if swapped {
		for i := range m.spans {
			m.spans[i] = m.spans[i].Swap()
		}
	}
	slices.SortFunc(m.spans, func(x, y Span) int {
		return cmp.Or(cmp.Compare(y.Words, x.Words), cmp.Compare(x.StartA, y.StartA), cmp.Compare(x.StartB, y.StartB))
	})
	return shared, m.spans
}

// seed notes places of shingles that are in both sequences, as diagonal and place
// in a, and returns how many distinct ones there are.
func (m *Matcher) seed() (shared int) {
	m.seeds = m.seeds[:0]
	a, b := m.a.places, m.b.places
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if x, y := a[i].shingle, b[j].shingle; x != y {
			// Which of them is less cannot be foreseen, so nothing branches on it.
			_, less := bits.Sub64(x, y, 0)
			i += int(less)
			j += 1 - int(less)
			continue
		}
		shared++
		inA, inB := timesFirst(a[i:]), timesFirst(b[j:])
		if inA*inB <= mostCombined {
			for _, x := range a[i : i+inA] {
				for _, y := range b[j : j+inB] {
					m.addSeed(x, y)
				}
			}
		} else {
			for k := range min(inA, inB) {
				m.addSeed(a[i+k], b[j+k])
			}
		}
		i, j = i+inA, j+inB
	}
	slices.Sort(m.seeds)
	return shared
}

// timesFirst returns how often the first shingle is there.
func timesFirst(places []place) int {
	n := 1
	for n < len(places) && places[n].shingle == places[0].shingle {
		n++
	}
	return n
}

func (m *Matcher) addSeed(x, y place) {
	diagonal := uint64(int(y.at) - int(x.at) + m.a.Len())
	m.seeds = append(m.seeds, diagonal<<32|uint64(x.at))
}

// extend finds the stretches that the seeds are in.
func (m *Matcher) extend() {
	m.stretches = m.stretches[:0]
	diagonal, end := uint64(math.MaxUint64), 0 // of the stretch before
	for _, seed := range m.seeds {
		a := int(seed & math.MaxUint32)
		if seed>>32 == diagonal && a < end {
			continue
		}
		if seed>>32 != diagonal {
			diagonal, end = seed>>32, 0
		}
		b := a + int(diagonal) - m.a.Len()
		begin := a
		for begin > end && m.follow(begin-1, b-(a-begin)-1) {
			begin--
		}
		last := a
		for m.follow(last, b+last-a) {
			last++
		}
		m.stretches = append(m.stretches, stretch{begin, b - (a - begin), last - begin + 1})
		end = last + 1
	}
}

// follow reports whether shingle a of the one sequence and b of the other are
// alike and those behind them, their neighbours, are too.
func (m *Matcher) follow(a, b int) bool {
	x, y := m.a, m.b
	return a >= 0 && b >= 0 && a+1 < x.Len() && b+1 < y.Len() &&
		x.Shingles[a] == y.Shingles[b] && x.Shingles[a+1] == y.Shingles[b+1] &&
		x.Tokens[a+1] == x.Tokens[a]+1 && y.Tokens[b+1] == y.Tokens[b]+1
}

// choose leaves of the stretches those that tell of passages not told of before.
func (m *Matcher) choose() {
	slices.SortFunc(m.stretches, func(x, y stretch) int {
		return cmp.Or(cmp.Compare(y.length, x.length), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	m.chosen = m.chosen[:0]
	m.coveredA = slices.Grow(m.coveredA[:0], m.a.Len())[:m.a.Len()]
	m.coveredB = slices.Grow(m.coveredB[:0], m.b.Len())[:m.b.Len()]
	for _, s := range m.stretches {
		m.take(s, 1, func(a, b int) bool { return !m.coveredA[a] && !m.coveredB[b] })
	}
	// Another copy in one text of what the other has but once.
	for _, s := range m.stretches {
		m.take(s, max(LeastSpan-m.shingle+1, 1), func(a, b int) bool { return !m.coveredA[a] || !m.coveredB[b] })
	}
	for _, s := range m.chosen {
		clear(m.coveredA[s.a : s.a+s.length])
		clear(m.coveredB[s.b : s.b+s.length])
	}
}

// take chooses the longest part of a stretch whose shingles are all wanted, if it
// has at least so many.
func (m *Matcher) take(s stretch, least int, wanted func(a, b int) bool) {
	best := stretch{}
	for i := 0; i < s.length; i++ {
		begin := i
		for i < s.length && wanted(s.a+i, s.b+i) {
			i++
		}
		if i-begin > best.length {
			best = stretch{s.a + begin, s.b + begin, i - begin}
		}
	}
	if best.length < least {
		return
	}
	m.chosen = append(m.chosen, best)
	for i := range best.length {
		m.coveredA[best.a+i], m.coveredB[best.b+i] = true, true
	}
}

// join makes spans of the stretches chosen.
func (m *Matcher) join() {
	slices.SortFunc(m.chosen, func(x, y stretch) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	m.chains = m.chains[:0]
	for _, s := range m.chosen {
		best, least := -1, math.MaxInt
		for i := len(m.chains) - 1; i >= max(len(m.chains)-mostOpen, 0); i-- {
			if gap, ok := m.gap(&m.chains[i], s); ok && gap < least {
				best, least = i, gap
			}
		}
		if best < 0 {
			m.chains = append(m.chains, chain{s.a, s.a + s.length - 1, s.b, s.b + s.length - 1, s.length + m.shingle - 1})
			continue
		}
		c := &m.chains[best]
		c.words += s.length + m.shingle - 1 + min(m.distance(m.a, c.lastA, s.a), m.distance(m.b, c.lastB, s.b), 0)
		c.lastA, c.lastB = s.a+s.length-1, s.b+s.length-1
	}
	m.tell()
}

// gap returns how many words there are between a chain and a stretch, and whether
// these are few enough to join them.
func (m *Matcher) gap(c *chain, s stretch) (int, bool) {
	if c.lastA >= s.a || c.lastB >= s.b {
		return 0, false
	}
	gap := max(m.distance(m.a, c.lastA, s.a), m.distance(m.b, c.lastB, s.b))
	return gap, gap <= MostGap && gap < min(c.words, s.length+m.shingle-1)
}

// distance returns how many words there are between two shingles; it is negative
// where they overlap.
func (m *Matcher) distance(s *IndexedSequence, before, after int) int {
	return int(s.Tokens[after]) - int(s.Tokens[before]) - m.shingle
}

// tell makes spans of the chains that are worth it.
func (m *Matcher) tell() {
	m.spans = m.spans[:0]
	longest := -1
	for i, c := range m.chains {
		if c.words >= LeastSpan {
			m.spans = append(m.spans, m.span(c))
		}
		if longest < 0 || c.words > m.chains[longest].words {
			longest = i
		}
	}
	if len(m.spans) == 0 && longest >= 0 {
		m.spans = append(m.spans, m.span(m.chains[longest]))
	}
}

func (m *Matcher) span(c chain) Span {
	words := min(m.a.Tokens[c.lastA]-m.a.Tokens[c.firstA], m.b.Tokens[c.lastB]-m.b.Tokens[c.firstB])
	return Span{
		StartA: m.a.Starts[c.firstA], EndA: m.a.Ends[c.lastA],
		StartB: m.b.Starts[c.firstB], EndB: m.b.Ends[c.lastB],
		Words: words + uint32(m.shingle),
	}
}
