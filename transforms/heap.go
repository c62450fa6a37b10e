package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/leaders"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/unionfind"
	"mirrorbeam/lshbands"
)

// A heap is the documents of dense groups that have documents in common. Its pairs are
// too many to be compared. Its documents come to one place instead, in the order in
// which they are preferred. Each is compared with the leaders so far, and becomes one
// if it is like none of them. So the leaders are what stays of the heap, and the edges
// to them hold together what belongs together.

// heapMemberSize is the size of a document of a heap: its ref, that of the equal
// document of the input (see want), and that of another document of the heap.
const heapMemberSize = 3 * refSize

// heapWriter writes the documents of dense groups.
type heapWriter struct {
	run   *runfile.Writer
	part  int
	dense *candidates.Grouper // knows the dense keys
}

// add adds the documents of a dense group. Of those that have had a dense key before,
// which are in its heap, one for each such key joins the two.
func (w *heapWriter) add(group, copies []candidates.Record) error {
	joined := map[uint32]bool{}
	for i := range group {
		r := &group[i]
		if key, has := w.dense.DenseBefore(r); has {
			if joined[key] {
				continue
			}
			joined[key] = true
		}
		b, err := w.run.Record(heapMembersKind, w.part, heapMemberSize)
		if err != nil {
			return err
		}
		putRef(b, r.Ref)
		putRef(b[refSize:], copyOf(r, copies))
		putRef(b[2*refSize:], group[0].Ref)
	}
	return nil
}

// copyOf returns the document of the input that is equal to one of the reference, 0 if
// there is none. Copies are ordered by digest.
func copyOf(r *candidates.Record, copies []candidates.Record) docref.Ref {
	at, found := slices.BinarySearchFunc(copies, r.Digest, func(c candidates.Record, digest uint64) int { return cmp.Compare(c.Digest, digest) })
	if !found {
		return 0
	}
	return copies[at].Ref
}

// heaps joins dense groups to heaps, gives each a place, from the first one on, and
// says which documents are wanted there.
func (f *placeFn) heaps(runs []string, firstPlace int, m *memory) error {
	var graph components.Graph
	inputs := map[docref.Ref]docref.Ref{}
	err := eachPart(runs, heapMembersKind, m, func(_ int, members []byte) error {
		var part components.Part
		var numbers numbering.Set
		number := func(ref docref.Ref) uint32 {
			n, isNew := numbers.Add(uint64(ref))
			if isNew {
				part.Refs, part.Weights, part.Parents = append(part.Refs, ref), append(part.Weights, 0), append(part.Parents, n)
			}
			return n
		}
		for ; len(members) > 0; members = members[heapMemberSize:] {
			ref, input, other := getRef(members), getRef(members[refSize:]), getRef(members[2*refSize:])
			part.Parents.Union(number(ref), number(other))
			if input != 0 {
				inputs[ref] = input
			}
		}
		graph.Add(part)
		return nil
	})
	if err != nil {
		return err
	}
	graph.Finish()
	places := map[uint32]int{} // by root
	for rank, root := range graph.Roots() {
		place, known := places[root]
		if !known {
			place = firstPlace + len(places)
			places[root] = place
			if _, err := m.run.Record(heapsKind, place, 1); err != nil {
				return err
			}
		}
		ref := graph.Ref(rank)
		if err := writeWanted(&m.run, splitOf(f.starts, ref), want{ref, place, inputs[ref]}); err != nil {
			return err
		}
	}
	return nil
}

// heapMember is a document of a heap and where its set lies.
type heapMember struct {
	gatheredSet
	length uint32
	piece  int // of the place
	offset int // of the set in the piece
	stored int // hashes
}

// heapMembers returns the documents of a heap in the order in which they are preferred,
// those of the reference first.
func (f *scoreFn) heapMembers(w *workplace) ([]heapMember, error) {
	var members []heapMember
	for i, piece := range w.pieces {
		if piece.Kind != placeSetsKind {
			continue
		}
		buffer, err := w.readPiece(0, piece)
		if err != nil {
			return nil, err
		}
		w.figures.bytes += int64(len(buffer))
		for at := 0; at < len(buffer); {
			b := buffer[at:]
			m := heapMember{
				gatheredSet: gatheredSet{ref: getRef(b), size: int(binary.LittleEndian.Uint32(b[8:]))},
				piece:       i, offset: at + setHeader, stored: int(binary.LittleEndian.Uint32(b[12:])),
				length: binary.LittleEndian.Uint32(b[24:]),
			}
			if input := getRef(b[16:]); input != 0 {
				m.input = &gatheredSet{ref: input, size: m.size}
			}
			members = append(members, m)
			at = m.offset + sketchblock.HashSize*m.stored
		}
	}
	slices.SortFunc(members, func(a, b heapMember) int {
		aReference, bReference := a.ref < f.firstInput, b.ref < f.firstInput
		switch {
		case aReference && !bReference:
			return -1
		case bReference && !aReference:
			return 1
		case f.Job.Keep == Longest && !aReference && a.length != b.length:
			return cmp.Compare(b.length, a.length)
		}
		return cmp.Compare(a.ref, b.ref)
	})
	return members, nil
}

// heap scores the documents of a heap with its leaders.
func (f *scoreFn) heap(ctx context.Context, number int, w *workplace) error {
	members, err := f.heapMembers(w)
	if err != nil {
		return err
	}
	index := leaders.New(func(n int) int { return lshbands.PrefixLength(f.Job.Threshold, n) })
	h := heapScorer{f: f, w: w, graph: edgeWriter{number: f.Job.Shards + number}, index: index}
	for i := range members {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m := &members[i]
		if w.buffers[1], err = w.reader.ReadStretch(w.buffers[1][:0], w.pieces[m.piece], m.offset, sketchblock.HashSize*m.stored); err != nil {
			return err
		}
		w.hashes = sketchblock.AppendSet(w.hashes[:0], w.buffers[1])
		m.set = w.hashes
		if err := h.member(&m.gatheredSet); err != nil {
			return err
		}
		m.set = nil
	}
	n := int64(len(members))
	w.outcome.Counts.Candidates += h.compared
	w.figures.records += n
	refs := make([]docref.Ref, len(members))
	for i := range members {
		refs[i] = members[i].ref
	}
	slices.Sort(refs)
	w.outcome.Skipped = f.layout.skipped(refs[0], refs[1], len(members), n*(n-1)/2-h.compared)
	w.outcome.Skipped.Kept = h.unchecked
	return writePart(&w.run, edgeNodesKind, h.graph.number, h.graph.part)
}

// heapScorer compares the documents of a heap, one after the other.
type heapScorer struct {
	f     *scoreFn
	w     *workplace
	graph edgeWriter
	index *leaders.Index

	leaders   []gatheredSet
	joined    unionfind.Forest // leaders, by edges
	compared  int64
	unchecked int64 // leaders that were not compared with all before them
}

// member compares a document with the leaders, writes the edges that are worth a row,
// and makes it a leader if it is like none, or of the reference.
func (h *heapScorer) member(m *gatheredSet) error {
	candidates, isComplete := h.index.Candidates(m.set)
	alike, err := h.compare(m, candidates)
	if err != nil {
		return err
	}
	if alike && m.ref >= h.f.firstInput {
		return nil
	}
	isLeader := h.index.Add(m.set)
	if isLeader {
		leader := *m
		leader.set = h.index.Set(uint32(len(h.leaders)))
		h.leaders = append(h.leaders, leader)
		h.joined = append(h.joined, uint32(len(h.joined)))
	}
	if !alike && (!isComplete || !isLeader) {
		h.unchecked++
	}
	return nil
}

// found is a leader that a document is like.
type foundLeader struct {
	leader uint32
	edge   edge
}

// compare compares a document with leaders. Of the edges to those that it is like it
// writes the one of the greatest similarity, that to the most similar one of the
// reference, and those that join what was not joined.
func (h *heapScorer) compare(m *gatheredSet, with []uint32) (alike bool, err error) {
	var found []foundLeader
	for _, number := range with {
		leader := &h.leaders[number]
		if low, high := min(m.size, leader.size), max(m.size, leader.size); float64(low)/float64(high) < h.f.Job.Threshold {
			continue
		}
		if _, _, compared := candidates.Ends(leader.class(), m.class(), h.f.firstInput); !compared {
			continue
		}
		h.compared++
		if e, ok := h.f.score(leader, m); ok {
			found = append(found, foundLeader{number, e})
		}
	}
	slices.SortFunc(found, func(a, b foundLeader) int {
		return cmp.Or(cmp.Compare(b.edge.similarity(), a.edge.similarity()), cmp.Compare(a.leader, b.leader))
	})
	hasReference := false
	for i, l := range found {
		leader := &h.leaders[l.leader]
		isReference := leader.ref < h.f.firstInput
		if i > 0 && h.joined.Find(l.leader) == h.joined.Find(found[0].leader) && (hasReference || !isReference) {
			continue
		}
		hasReference = hasReference || isReference
		h.joined.Union(found[0].leader, l.leader)
		x, y, _ := candidates.Ends(leader.class(), m.class(), h.f.firstInput)
		e := l.edge
		e.total |= heapMark
		if err := h.graph.add(&h.w.run, endOf(leader, m, x), endOf(leader, m, y), e); err != nil {
			return false, err
		}
	}
	return len(found) > 0, nil
}

// endOf returns the document of that name among those that two sets stand for.
func endOf(a, b *gatheredSet, ref docref.Ref) *gatheredSet {
	if a.ref == ref || a.input != nil && a.input.ref == ref {
		return a.of(ref)
	}
	return b.of(ref)
}
