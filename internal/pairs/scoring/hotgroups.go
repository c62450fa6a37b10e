package scoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// HotGroupsDelivery makes a task of [HotGroups] for each place that has hot groups.
func HotGroupsDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.HotGroups}, Extra: []runfile.Kind{records.PlaceSets}}
}

// HotGroups scores the hot groups of a place. Their documents come in order of preference. Each is compared with the
// pivots so far, and becomes a pivot itself if it is like none of them. So the pivots are the documents of the hot
// group that are kept, and the edges to them hold similar documents together.
type HotGroups struct {
	Inputs work.Path
	// An edge has an estimate that reaches the threshold, even with AcceptsAll: a common key is not enough here.
	Similarity
	// FirstPart is as in [Sets].
	FirstPart int
	// ListedPairs is the largest number of pairs of a star that needs no decision; a star is the documents that are
	// like one pivot. A larger star is written, so that other stages may leave its pairs out.
	ListedPairs int64

	layout documents.Layout
}

func (h *HotGroups) Setup() error { return h.layout.Read(string(h.Inputs)) }

// Task scores the hot groups of a place. It fails if a set is missing.
func (h *HotGroups) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	place := graphs.Place(t.Number)
	members, err := h.readMembers(w)
	if err != nil {
		return err
	}
	edges := &edgeWriter{run: &w.Run, number: hotGroupPart(h.FirstPart, place)}
	hotGroups := h.newHotGroups(w, edges, members)
	if err := compareMembers(ctx, w, members, hotGroups); err != nil {
		return err
	}
	for i := range hotGroups {
		hotGroups[i].count()
	}
	if err := h.writeStars(w, members, hotGroups, place); err != nil {
		return err
	}
	return edges.finish()
}

type member struct {
	document preference.Ranked
	second   docref.Ref // see records.Want
	side     uint64
	size     uint32 // distinct shingles
	piece    uint32 // number of the piece of the task
	offset   int    // offset of the set in the piece
	stored   int    // bytes of the set, and of the hashes behind it that do not count
	counting int    // bytes of the set alone
	hotGroup records.HotGroupNumber
	star     graphs.Pivot // its most similar pivot, or graphs.NoPivot
}

// readMembers returns the documents of all hot groups of a place in their order of preference.
func (h *HotGroups) readMembers(w *work.TaskContext) ([]member, error) {
	packed, err := w.Read(1, records.HotGroups)
	if err != nil {
		return nil, err
	}
	want := 0
	for documents := range records.All[uint32](packed) {
		want += int(documents)
	}
	members := make([]member, 0, want)
	err = eachSet(w, func(s *records.PlacedSet, piece, offset int) error {
		members = append(members, member{
			document: preference.Ranked{Ref: s.Ref, Priority: s.Priority, Ties: s.Ties},
			second:   s.Second,
			side:     s.Side,
			size:     s.Size,
			piece:    uint32(piece),
			offset:   offset,
			stored:   len(s.Set) + len(s.Common),
			counting: len(s.Set),
			hotGroup: s.HotGroup,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(members) != want {
		return nil, fmt.Errorf("hot groups have %d documents, but %d sets came", want, len(members))
	}
	slices.SortFunc(members, func(a, b member) int { return a.document.Compare(b.document) })
	return members, nil
}

func (h *HotGroups) newHotGroups(w *work.TaskContext, edges *edgeWriter, members []member) []hotGroup {
	var sizes []int
	for i := range members {
		for int(members[i].hotGroup) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[members[i].hotGroup]++
	}
	hotGroups := make([]hotGroup, len(sizes))
	prefix := func(n int) int { return lshbands.PrefixLength(h.Threshold, n) }
	for i, size := range sizes {
		hotGroups[i] = hotGroup{
			HotGroups: h,
			w:         w,
			edges:     edges,
			index:     graphs.NewPivots(size, h.Threshold, prefix),
			documents: size,
		}
	}
	return hotGroups
}

func compareMembers(ctx context.Context, w *work.TaskContext, members []member, hotGroups []hotGroup) error {
	isInOrder := slices.IsSortedFunc(members, func(a, b member) int { return cmp.Compare(a.piece, b.piece) })
	held := ^uint32(0) // the piece in the buffer
	for i := range members {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m := &members[i]
		if isInOrder && m.piece != held {
			held = m.piece
			if _, err := w.ReadPiece(0, w.Pieces[held]); err != nil {
				return err
			}
		}
		packed, err := setOf(w, m, isInOrder)
		if err != nil {
			return err
		}
		w.Hashes = sketchblock.AppendSet(w.Hashes[:0], packed)
		d := newDocument(&records.PlacedHead{Ref: m.document.Ref, Size: m.size, Second: m.second, Side: m.side})
		counting := m.counting / sketchblock.HashSize
		d.set, d.common = w.Hashes[:counting:counting], w.Hashes[counting:]
		if m.star, err = hotGroups[m.hotGroup].add(&d); err != nil {
			return err
		}
	}
	return nil
}

// setOf returns the bytes of a set. IsHeld says that its piece is in the buffer.
func setOf(w *work.TaskContext, m *member, isHeld bool) ([]byte, error) {
	if isHeld {
		return w.Buffers[0][m.offset : m.offset+m.stored], nil
	}
	var err error
	w.Buffers[1], err = w.Reader.ReadStretch(w.Buffers[1][:0], w.Pieces[m.piece], m.offset, m.stored)
	return w.Buffers[1], err
}

func (h *HotGroups) writeStars(w *work.TaskContext, members []member, hotGroups []hotGroup, place graphs.Place) error {
	for i := range members {
		m := &members[i]
		of := &hotGroups[m.hotGroup]
		if m.star == graphs.NoPivot || candidates.PairsOf(of.sizes[m.star], 0) <= h.ListedPairs {
			continue
		}
		for _, ref := range []docref.Ref{m.document.Ref, m.second} {
			if ref == 0 {
				continue
			}
			pair := records.Pair{A: ref, B: of.pivots[m.star].ref}
			if err := records.WriteFixed(&w.Run, records.Stars, int(place), pair); err != nil {
				return err
			}
		}
	}
	return nil
}

type hotGroup struct {
	*HotGroups
	w     *work.TaskContext
	edges *edgeWriter
	index *graphs.Pivots
	sides *sides // replaces index if documents have sides

	pivots      []document
	outlines    outlines
	joined      graphs.Forest[graphs.Pivot] // pivots joined by edges
	found       []foundPivot                // pivots of the current document
	sizes       []int64                     // sizes of the stars, by pivot
	group       documents.SkippedGroup      // all documents
	ofReference int64                       // documents of the reference without an equal one of the input
	documents   int                         // all that the group will have
	unclear     int                         // documents whose bitmaps have left too many pivots
	compared    int64
	unchecked   int64 // pivots of the input that were not compared with all earlier ones
}

// add compares a document with the pivots and writes the edges that are worth a row. The document becomes a pivot if it
// is like none, or is of the reference. It returns the most similar pivot, which may be the document itself.
func (h *hotGroup) add(d *document) (star graphs.Pivot, err error) {
	h.group.Note(d.ref)
	if class := d.class(); max(class.First, class.Second) < h.layout.FirstInput {
		h.ofReference++
	}
	if d.side != 0 {
		return h.addAcross(d)
	}
	among, isComplete := h.among(d)
	h.find(d, among)
	if err := h.writeEdges(d); err != nil {
		return graphs.NoPivot, err
	}
	isReference := d.ref < h.layout.FirstInput
	if star = graphs.NoPivot; len(h.found) > 0 {
		star = h.found[0].pivot
		h.sizes[star]++
		if !isReference {
			return star, nil
		}
	}
	if pivot := h.index.Add(d.set); pivot == graphs.NoPivot {
		isComplete = false
	} else {
		h.lead(d, h.index.Set(pivot))
		if star == graphs.NoPivot {
			star = pivot
		}
	}
	if len(h.found) == 0 && !isComplete && !isReference {
		h.unchecked++
		return star, h.layout.Mark(&h.w.Run, records.Unchecked, d.ref)
	}
	return star, nil
}

const (
	mostScanned = 1 << 16 // the largest group whose documents go through the bitmaps of all pivots
	mostUnclear = 64      // documents whose bitmaps leave too many pivots: then only the index is used
)

// among returns the pivots that a document without a side may be like. They are all of them, unless these are too many.
func (h *hotGroup) among(d *document) (pivots []graphs.Pivot, isComplete bool) {
	most, class := h.mostOfAny(d.size, h.outlines.largest), d.class()
	isReference := max(class.First, class.Second) < h.layout.FirstInput // it is compared with hardly any
	if h.Smallest != 0 || isReference || most > bitsOfWord*outlineWords ||
		h.documents > mostScanned || h.unclear > mostUnclear {
		return h.index.Candidates(d.set)
	}
	own := outlineOf(d)
	if pivots = h.outlines.within(&own, most); len(pivots) > h.index.Bound() {
		h.unclear++
		return h.index.Candidates(d.set)
	}
	h.compared += int64(len(h.pivots) - len(pivots))
	return pivots, !h.index.MayLack(d.size)
}

// lead makes a document the next pivot. Its set must stay.
func (h *hotGroup) lead(d *document, set []uint64) {
	pivot := graphs.Pivot(len(h.pivots))
	kept := *d
	kept.set, kept.common = set, slices.Clone(d.common)
	h.pivots = append(h.pivots, kept)
	h.outlines.add(&kept)
	h.joined = append(h.joined, pivot)
	h.sizes = append(h.sizes, 1)
}

type foundPivot struct {
	pivot graphs.Pivot
	score records.Score
}

// find finds the pivots that a document is like, the most similar ones first.
func (h *hotGroup) find(d *document, among []graphs.Pivot) {
	h.found = h.found[:0]
	own := outlineOf(d)
	size, most := -1, 0 // of the pivot before, and in how many shingles it may differ from the document
	mayBeApart := h.layout.FirstInput > 0 || d.side != 0
	distances := h.outlines.near(&own, among)
	for i, pivot := range among {
		if n := h.outlines.sizes[pivot]; n != size {
			size, most = n, h.mostDiffering(n, d.size)
		}
		if mayBeApart && candidates.Apart(h.pivots[pivot].class(), d.class(), h.layout.FirstInput) {
			continue
		}
		h.compared++
		if int(distances[i]) > most || h.outlines.distance(1, pivot, &own) > most {
			continue
		}
		if score, ok := h.score(&h.pivots[pivot], d); ok {
			h.found = append(h.found, foundPivot{pivot, score})
		}
	}
	slices.SortFunc(h.found, func(a, b foundPivot) int {
		return cmp.Or(cmp.Compare(b.score.Similarity(), a.score.Similarity()), cmp.Compare(a.pivot, b.pivot))
	})
}

// writeEdges writes some of the edges between a document and the pivots that were found: the first edge, the edge to
// the most similar pivot of the reference, and each edge that joins pivots that were not joined.
func (h *hotGroup) writeEdges(d *document) error {
	hasReference := false
	for i, l := range h.found {
		pivot, first := &h.pivots[l.pivot], h.found[0].pivot
		isReference := pivot.ref < h.layout.FirstInput
		if i > 0 && h.joined.Find(l.pivot) == h.joined.Find(first) && (hasReference || !isReference) {
			continue
		}
		hasReference = hasReference || isReference
		h.joined.Union(first, l.pivot)
		x, y, _ := candidates.Ends(pivot.class(), d.class(), h.layout.FirstInput)
		l.score.Total |= records.HotGroupMark
		if err := h.edges.add(pivot.of(x), d.of(y), l.score); err != nil {
			return err
		}
	}
	return nil
}

func (h *hotGroup) score(pivot, d *document) (records.Score, bool) {
	h.w.Figures.Compared++
	score, ok := h.Similarity.compare(pivot, d)
	return score, ok && (!h.AcceptsAll || score.Similarity() >= h.Threshold)
}

func (h *hotGroup) count() {
	h.w.Figures.Records += h.group.Documents
	h.w.Outcome.Counts.Candidates += h.compared
	pairs := candidates.PairsOf(h.group.Documents, h.ofReference)
	if h.sides != nil {
		pairs -= h.sides.apart()
	}
	skipped := h.layout.Skipped(&h.group, pairs-h.compared)
	skipped.Kept = h.unchecked
	findings.Merge(&h.w.Outcome.Skipped, skipped)
}

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
