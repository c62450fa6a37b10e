package sketch

import (
	"cmp"
	"math"
	"slices"
)

// mostCombined bounds the combinations of the places of a shingle in two texts
// that are looked at. Where there are more, the shingle is frequent: its places go
// together in their order, and those where the longest runs of frequent ones are.
const mostCombined = 4

// Matcher finds what two texts have in common. It reuses its buffers and must not
// be used by two goroutines at a time.
type Matcher struct {
	shingle int
	a, b    *IndexedSequence
	swapped bool // whether a is the second of those compared

	met              []meeting  // of shingles that are once in both
	combined, paired []meeting  // of those that are a few times, and of frequent ones
	runs             commonRuns // of frequent ones
	inA, inB         bitSet     // places of shingles in common
	nearA, nearB     bitSet     // those of them that a span worth telling may have
	clusters         []cluster

	once               []uint32 // for places in a one more than that in b, if one goes with it
	seeds              []uint64
	stretches, chosen  []stretch
	coveredA, coveredB bitSet
	chains             []chain
	spans              []Span
}

// meeting is a place in a and one in b with the same shingle.
type meeting struct{ a, b uint32 }

// NewMatcher returns a Matcher of sequences of shingles of so many tokens.
func NewMatcher(shingle int) *Matcher { return &Matcher{shingle: max(shingle, 1)} }

// Compare returns how many distinct shingles a and b have in common. The other
// methods are about them until the next call.
func (m *Matcher) Compare(a, b *IndexedSequence) (shared int) {
	// Ties are broken by places in the first one, so that must not be a matter of
	// the order of the arguments.
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
		if !b.seemsToHave(shingle) {
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

// meet takes in the places of a shingle that is in both sequences.
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

// MayReach reports whether a span may have so many words. It is far faster than to
// look for spans: the shingles in common must be near each other, in both texts, over
// so many words.
func (m *Matcher) MayReach(words int) bool {
	return m.widest(m.a, m.inA) >= words && m.widest(m.b, m.inB) >= words
}

// cluster is a stretch of one text in which shingles in common are so near each other
// that they may be of one span: its first and its last place.
type cluster struct{ first, last int }

// cluster finds the clusters of places in a sequence.
func (m *Matcher) cluster(s *IndexedSequence, places bitSet) []cluster {
	runs := m.clusters[:0]
	for at := range places.all() {
		if n := len(runs); n > 0 && runs[n-1].last == at-1 {
			runs[n-1].last = at
		} else {
			runs = append(runs, cluster{at, at})
		}
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

// reachedBack reports whether a stretch in one of the runs may be joined to one that
// ends at a place before.
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

// words returns how many words a cluster has.
func (m *Matcher) words(s *IndexedSequence, c cluster) int {
	return m.distance(s, c.first, c.last) + 2*m.shingle
}

// widest returns the number of words of the longest cluster.
func (m *Matcher) widest(s *IndexedSequence, places bitSet) int {
	widest := 0
	for _, c := range m.cluster(s, places) {
		widest = max(widest, m.words(s, c))
	}
	return widest
}

// near makes kept what is left of places without the clusters that are too short for
// a span worth telling.
func (m *Matcher) near(s *IndexedSequence, places, kept bitSet) bitSet {
	kept = append(kept[:0], places...)
	for _, c := range m.cluster(s, places) {
		if m.words(s, c) < LeastSpan {
			for at := c.first; at <= c.last; at++ {
				kept.remove(at)
			}
		}
	}
	return kept
}

// seed notes which places in both texts to look for stretches at, as diagonal, place
// in a and kind, in order. Both are to be of the given ones.
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

// goesOn reports whether places of a shingle that is once in both are in the stretch
// of those before.
func (m *Matcher) goesOn(a, b int) bool {
	return a > 0 && b > 0 && int(m.once[a]) == b+1 && int(m.once[a-1]) == b && m.follow(a-1, b-1)
}

// Kinds of seeds: those that are looked at whatever they cost, and those of frequent
// shingles that go together in their order.
const certain, inOrder = 0, 1

func (m *Matcher) addSeed(a, b int, kind uint64) {
	m.seeds = append(m.seeds, uint64(b-a+m.a.Len())<<32|uint64(a)<<1|kind)
}

// places returns the places in a and in b of a seed.
func (m *Matcher) places(seed uint64) (a, b int) {
	a = int(seed & math.MaxUint32 >> 1)
	return a, a + int(seed>>32) - m.a.Len()
}

// leastRun is the number of shingles in a row of the shortest span worth telling.
func (m *Matcher) leastRun() int { return max(LeastSpan-m.shingle+1, 1) }
