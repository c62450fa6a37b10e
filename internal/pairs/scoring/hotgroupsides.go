package scoring

import (
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
)

// Documents with sides make two differences in a hot group. A document is only removed for one of another side, so very
// many that are alike may all stay and lead. So pivots of different sides are kept apart: pivots of one side must not
// push out pivots of others. And a pivot may be like earlier documents that have gone, and like no other pivot: so
// these followers are kept as well, to join it to one of them.

// mostSides is the largest number of sides whose pivots have an index of their own. All others share one.
const mostSides = 8

type sides struct {
	pivots, followers sided
	followed          []document // the followers, by number
	firm              []bool     // by pivot: it was like no earlier pivot
	documents         map[uint64]int64
}

func newSides(index *graphs.Pivots) *sides {
	return &sides{pivots: newSided(index), followers: newSided(index.Beside()), documents: map[uint64]int64{}}
}

// apart returns the number of pairs that are not compared, since both classes are of one side.
func (s *sides) apart() (pairs int64) {
	for _, n := range s.documents {
		pairs += candidates.PairsOf(n, 0)
	}
	return pairs
}

// ownSide returns the side of a class if all its documents are of one, else 0.
func ownSide(d *document) uint64 {
	if d.second != nil {
		return 0
	}
	return d.side
}

// sided is an index of documents by side. The first slot holds classes of several sides, the last but one side each,
// and the last one all other sides.
type sided struct {
	slots []slot
	of    map[uint64]int // the slot of each side that has its own
	found []graphs.Pivot
}

// slot is an index, and the number of each of its pivots among all.
type slot struct {
	index   *graphs.Pivots
	numbers []graphs.Pivot
}

func newSided(index *graphs.Pivots) sided {
	return sided{slots: []slot{{index: index}}, of: map[uint64]int{0: 0}}
}

func (s *sided) slotOf(side uint64) int {
	slot, known := s.of[side]
	if known {
		return slot
	}
	return mostSides + 1
}

// add makes a set the document of that number, and returns the copy that is kept. There may be no room.
func (s *sided) add(side uint64, set []uint64, number int) (kept []uint64, ok bool) {
	if _, known := s.of[side]; !known && len(s.of) <= mostSides {
		s.of[side] = len(s.of)
	}
	at := s.slotOf(side)
	for len(s.slots) <= at {
		s.slots = append(s.slots, slot{index: s.slots[0].index.Beside()})
	}
	in := &s.slots[at]
	local := in.index.Add(set)
	if local == graphs.NoPivot {
		return nil, false
	}
	in.numbers = append(in.numbers, graphs.Pivot(number))
	return in.index.Set(local), true
}

// candidates returns documents that may be like a set; see [graphs.Pivots.Candidates]. Few are of the given side.
func (s *sided) candidates(side uint64, set []uint64) (found []graphs.Pivot, isComplete bool) {
	s.found, isComplete = s.found[:0], true
	own, hasOwn := s.of[side]
	for i := range s.slots {
		if hasOwn && i == own && side != 0 {
			continue
		}
		among, complete := s.slots[i].index.Candidates(set)
		isComplete = isComplete && complete
		for _, local := range among {
			s.found = append(s.found, s.slots[i].numbers[local])
		}
	}
	return s.found, isComplete
}

// addAcross is add for a document with a side. It becomes a pivot unless it is certain to be removed for others.
func (h *hotGroup) addAcross(d *document) (star graphs.Pivot, err error) {
	if h.sides == nil {
		h.sides = newSides(h.index)
	}
	s, side := h.sides, ownSide(d)
	if side != 0 {
		s.documents[side]++
	}
	candidates, isComplete := s.pivots.candidates(side, d.set)
	h.find(d, candidates)
	if err := h.writeEdges(d); err != nil {
		return graphs.NoPivot, err
	}
	if star = graphs.NoPivot; len(h.found) > 0 {
		star = h.found[0].pivot
		h.sizes[star]++
		if h.isGone(side) {
			h.follow(d, side)
			return star, nil
		}
	} else if err := h.joinFollower(d, side); err != nil {
		return graphs.NoPivot, err
	}
	set, ok := s.pivots.add(side, d.set, len(h.pivots))
	if ok {
		if star == graphs.NoPivot {
			star = graphs.Pivot(len(h.pivots))
		}
		h.lead(d, set)
		s.firm = append(s.firm, len(h.found) == 0)
	}
	if !ok || !isComplete {
		h.unchecked++
		return star, h.layout.Mark(&h.w.Run, records.Unchecked, d.ref)
	}
	return star, nil
}

// isGone reports whether the found pivots are certain to remove all documents of the current class, which has that side
// or several. A firm pivot is kept. If it has several sides, only one of them is, and nobody knows here which.
func (h *hotGroup) isGone(side uint64) bool {
	by := uint64(0) // side of a pivot that removes pivots of other sides
	for _, found := range h.found {
		of := ownSide(&h.pivots[found.pivot])
		if of == 0 || !h.sides.firm[found.pivot] {
			continue
		}
		if side != 0 || by != 0 && by != of {
			return true
		}
		by = of
	}
	return false
}

// follow keeps a document that is removed for a pivot, if there is room.
func (h *hotGroup) follow(d *document, side uint64) {
	s := h.sides
	if set, ok := s.followers.add(side, d.set, len(s.followed)); ok {
		kept := *d
		kept.set = set
		s.followed = append(s.followed, kept)
	}
}

// joinFollower writes the edge between a document that is like no pivot and a follower that it is like, if there is
// one. The edge has no mark of a hot group: the follower leads nobody.
func (h *hotGroup) joinFollower(d *document, side uint64) error {
	among, _ := h.sides.followers.candidates(side, d.set)
	for _, number := range among {
		follower := &h.sides.followed[number]
		if h.mostDiffering(follower.size, d.size) < 0 ||
			candidates.Apart(follower.class(), d.class(), h.layout.FirstInput) {
			continue
		}
		h.compared++
		score, ok := h.score(follower, d)
		if !ok {
			continue
		}
		x, y, _ := candidates.Ends(follower.class(), d.class(), h.layout.FirstInput)
		return h.edges.add(follower.of(x), d.of(y), score)
	}
	return nil
}
