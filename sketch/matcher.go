package sketch

import (
	"cmp"
	"math"
	"slices"
)

// mostCombined bounds the combinations of the places of a shingle in two texts that are tried. A shingle with more
// combinations is frequent. Its places are paired in their order, and at the longest runs of frequent shingles.
const mostCombined = 4

// Matcher finds what two texts have in common. It reuses its buffers. Only one goroutine may use it at a time.
type Matcher struct {
	shingle int
	a, b    *IndexedSequence
	swapped bool // whether a is the second argument of Compare

	met              []meeting  // of shingles that occur once in each text
	combined, paired []meeting  // of shingles that occur a few times, and of frequent ones
	runs             commonRuns // of frequent shingles
	inA, inB         bitSet     // places of common shingles
	nearA, nearB     bitSet     // the common shingles that may be in a span worth reporting
	clusters         []cluster

	once               []uint32 // for each place in a, its only partner in b plus one; 0 for none
	seeds              []uint64
	stretches, chosen  []stretch
	coveredA, coveredB bitSet
	chains             []chain
	spans              []Span
}

// meeting is a place in a and a place in b with the same shingle.
type meeting struct{ a, b uint32 }

// NewMatcher returns a Matcher of sequences of shingles. Shingle is the number of tokens in each, as in
// the [Measure] of their [Sequencer], where 0 stands for 1.
func NewMatcher(shingle int) *Matcher { return &Matcher{shingle: max(shingle, 1)} }

// Compare returns how many distinct shingles a and b share. Until the next call, the other methods are about a and b.
func (m *Matcher) Compare(a, b *IndexedSequence) (shared int) {
	// Places in the first sequence break ties. So the order of the arguments must not decide which sequence is first.
	order := cmp.Or(cmp.Compare(a.Len(), b.Len()), slices.Compare(a.Shingles, b.Shingles))
	if order == 0 {
		order = slices.Compare(a.Tokens, b.Tokens)
	}
	if m.swapped = order > 0; m.swapped {
		a, b = b, a
	}
	m.a, m.b = a, b
	m.met, m.combined, m.paired = m.met[:0], m.combined[:0], m.paired[:0]
	m.runs.reset(a, b)
	m.inA.reset(a.Len())
	m.inB.reset(b.Len())
	for i := 0; i < len(a.places); {
		shingle := a.places[i].shingle
		if !b.presence.has(int(shingle >> b.presenceShift)) {
			i++
			continue
		}
		inA := first(a.places[i:], shingle)
		if inB := b.find(shingle); len(inB) > 0 {
			shared++
			m.meet(inA, inB)
		}
		i += len(inA)
	}
	return shared
}

// meet notes the places of a shingle that both sequences have.
func (m *Matcher) meet(inA, inB []place) {
	for _, p := range inA {
		m.inA.add(int(p.at))
	}
	for _, p := range inB {
		m.inB.add(int(p.at))
	}
	switch combinations := len(inA) * len(inB); {
	case combinations == 1:
		m.met = append(m.met, meeting{inA[0].at, inB[0].at})
	case combinations <= mostCombined:
		for _, x := range inA {
			for _, y := range inB {
				m.combined = append(m.combined, meeting{x.at, y.at})
			}
		}
	default:
		for i := range min(len(inA), len(inB)) {
			m.paired = append(m.paired, meeting{inA[i].at, inB[i].at})
		}
		m.runs.add(inA, inB)
	}
}

// mostSeeming is the length of the longest sequences that MayBeAlike looks at: what is present in longer ones would be
// looked up outside of the nearest cache, and Compare goes through it in order.
const mostSeeming = 512

// MayBeAlike reports whether two sequences may share that many distinct shingles, or have a span of that many words; 0
// words stand for no span. It is far faster than Compare for short sequences, and forgets what that has compared.
func (m *Matcher) MayBeAlike(a, b *IndexedSequence, shared, words int) bool {
	if a.Len() > b.Len() {
		a, b = b, a
	}
	return b.Len() > mostSeeming || m.inA.seem(a, b) >= shared || words > 0 && m.reaches(a, m.inA, words)
}

// MayReach reports whether there may be a span of that many words. It is far faster than finding spans. It
// only checks that over this number of words, in both texts, common shingles are near each other.
func (m *Matcher) MayReach(words int) bool {
	return m.reaches(m.a, m.inA, words) && m.reaches(m.b, m.inB, words)
}

// cluster is a range of places in one text. Common shingles in it are so near that they may be in one span.
type cluster struct{ first, last int }

func (m *Matcher) cluster(s *IndexedSequence, places bitSet) []cluster {
	runs := m.clusters[:0]
	for first, last := range places.runs() {
		runs = append(runs, cluster{first, last})
	}
	m.clusters = runs
	clusters, begin := runs[:0], 0
	for i := range runs {
		if !m.reachedBack(s, runs[i].last, runs[i+1:]) {
			clusters = append(clusters, cluster{runs[begin].first, runs[i].last})
			begin = i + 1
		}
	}
	return clusters
}

// reachedBack reports whether a stretch in one of the runs may be joined to an earlier stretch that ends at last.
func (m *Matcher) reachedBack(s *IndexedSequence, last int, runs []cluster) bool {
	for _, r := range runs {
		gap := m.distance(s, last, r.first)
		if gap > MostGap {
			break
		}
		if gap < m.words(s, r) {
			return true
		}
	}
	return false
}

func (m *Matcher) words(s *IndexedSequence, c cluster) int {
	return m.distance(s, c.first, c.last) + 2*m.shingle
}

func (m *Matcher) reaches(s *IndexedSequence, places bitSet, words int) bool {
	first, last := places.ends()
	return first <= last && m.words(s, cluster{first, last}) >= words &&
		slices.ContainsFunc(m.cluster(s, places), func(c cluster) bool { return m.words(s, c) >= words })
}

// near sets kept to places without the clusters that are too short for a span worth reporting.
func (m *Matcher) near(s *IndexedSequence, places, kept bitSet) bitSet {
	kept = append(kept[:0], places...)
	for _, c := range m.cluster(s, places) {
		if m.words(s, c) < LeastSpan {
			kept.removeRange(c.first, c.last+1)
		}
	}
	return kept
}

// seed notes at which pairs of places to look for stretches. A seed is a diagonal, a place in a and a kind;
// seeds are sorted. Both places must be among the given ones.
func (m *Matcher) seed(inA, inB bitSet) {
	m.seeds = m.seeds[:0]
	m.once = sized(m.once, m.a.Len())
	clear(m.once)
	for _, at := range m.met {
		if inA.has(int(at.a)) && inB.has(int(at.b)) {
			m.once[at.a] = at.b + 1
		}
	}
	for a := range inA.all() {
		if b := int(m.once[a]) - 1; b >= 0 && !m.goesOn(a, b) {
			m.addSeed(a, b, certain)
		}
	}
	for kind, meetings := range [][]meeting{certain: m.combined, inOrder: m.paired} {
		for _, at := range meetings {
			if inA.has(int(at.a)) && inB.has(int(at.b)) {
				m.addSeed(int(at.a), int(at.b), uint64(kind))
			}
		}
	}
	m.runs.each(inA, inB, m.leastRun(), func(a, b int) { m.addSeed(a, b, certain) })
	slices.Sort(m.seeds)
}

// goesOn reports whether the stretch of the places before goes on here. The shingle occurs once in each text.
func (m *Matcher) goesOn(a, b int) bool {
	return a > 0 && b > 0 && int(m.once[a]) == b+1 && int(m.once[a-1]) == b && m.follow(a-1, b-1)
}

// Kinds of seeds. Certain seeds are always tried. Seeds in order come from frequent shingles whose places are
// paired in their order; their number is bounded.
const certain, inOrder = 0, 1

func (m *Matcher) addSeed(a, b int, kind uint64) {
	m.seeds = append(m.seeds, uint64(b-a+m.a.Len())<<32|uint64(a)<<1|kind)
}

func (m *Matcher) places(seed uint64) (a, b int) {
	a = int(seed & math.MaxUint32 >> 1)
	return a, a + int(seed>>32) - m.a.Len()
}

// leastRun is the number of adjacent shingles in the shortest span worth reporting.
func (m *Matcher) leastRun() int { return max(LeastSpan-m.shingle+1, 1) }
