package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/leaders"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/unionfind"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&heapFn{})
}

// heapFn scores the heaps of a place. Their documents come in the order in which they are
// preferred. Each is compared with the leaders so far, and becomes one if it is like none of them. So the
// leaders are what stays of the heap, and the edges to them hold together what belongs
// together.
type heapFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *heapFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *heapFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, scoreStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		members, err := f.members(w)
		if err != nil {
			return err
		}
		// Parts of heaps have odd numbers behind those that Group made.
		graph := &edgeWriter{number: f.Job.Shards + 2*t.Number + 1}
		heaps := f.scorers(w, graph, members)
		if err := f.compare(ctx, w, members, heaps); err != nil {
			return err
		}
		for i := range heaps {
			heaps[i].count()
		}
		if err := f.writeStars(w, members, heaps, t.Number); err != nil {
			return err
		}
		return records.WritePart(&w.Run, records.EdgeNodes, graph.number, graph.part)
	})
}

// heapMember is a document of a heap and where its set lies.
type heapMember struct {
	ref, input           docref.Ref // see want
	size, length, stored uint32     // of the set, the text, and what is there of the set
	piece                uint32     // of the task
	offset               int        // of the set in the piece
	heap                 uint32     // of those of the place
	star                 uint32     // the leader that it is most like
}

// members returns the documents of all heaps in the order in which they are preferred, those
// of the reference first.
func (f *heapFn) members(w *work.Place) ([]heapMember, error) {
	packed, err := w.Read(1, records.Heaps)
	if err != nil {
		return nil, err
	}
	want := int(binary.LittleEndian.Uint32(packed))
	members := make([]heapMember, 0, want)
	for i, piece := range w.Pieces {
		if piece.Kind != records.PlaceSets {
			continue
		}
		buffer, err := w.ReadPiece(0, piece)
		if err != nil {
			return nil, err
		}
		w.Figures.Bytes += int64(len(buffer))
		for at := 0; at < len(buffer); {
			b := buffer[at:]
			m := heapMember{
				ref: records.GetRef(b), input: records.GetRef(b[16:]),
				size: binary.LittleEndian.Uint32(b[8:]), stored: binary.LittleEndian.Uint32(b[12:]), length: binary.LittleEndian.Uint32(b[24:]),
				piece: uint32(i), offset: at + records.SetHeader, heap: binary.LittleEndian.Uint32(b[28:]),
			}
			members = append(members, m)
			at = m.offset + m.bytes()
		}
	}
	if len(members) != want {
		return nil, fmt.Errorf("%d sets of heaps of %d documents came", len(members), want)
	}
	slices.SortFunc(members, f.prefer)
	return members, nil
}

// bytes returns how many bytes the set takes.
func (m *heapMember) bytes() int { return sketchblock.HashSize * int(m.stored) }

// prefer orders documents as those to keep are preferred.
func (f *heapFn) prefer(a, b heapMember) int {
	aReference, bReference := a.ref < f.FirstInput, b.ref < f.FirstInput
	switch {
	case aReference && !bReference:
		return -1
	case bReference && !aReference:
		return 1
	case f.Job.Keep == keep.Longest && !aReference && a.length != b.length:
		return cmp.Compare(b.length, a.length)
	}
	return cmp.Compare(a.ref, b.ref)
}

// heapScorer compares the documents of a heap, one after the other.
type heapScorer struct {
	f     *heapFn
	w     *work.Place
	graph *edgeWriter
	index *leaders.Index

	leaders     []gatheredSet
	joined      unionfind.Forest       // leaders, by edges
	found       []foundLeader          // of the document at hand
	sizes       []int64                // of the stars
	group       documents.SkippedGroup // all documents
	ofReference int64                  // those of which no equal one is of the input
	compared    int64
	unchecked   int64 // leaders of the input that were not compared with all before them
}

// scorers returns one for each heap, by number.
func (f *heapFn) scorers(w *work.Place, graph *edgeWriter, members []heapMember) []heapScorer {
	var sizes []int
	for i := range members {
		for int(members[i].heap) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[members[i].heap]++
	}
	prefix := func(n int) int { return lshbands.PrefixLength(f.Job.Threshold, n) }
	heaps := make([]heapScorer, len(sizes))
	for i, size := range sizes {
		heaps[i] = heapScorer{f: f, w: w, graph: graph, index: leaders.New(size, f.Job.Threshold, prefix)}
	}
	return heaps
}

// compare goes through the documents.
func (f *heapFn) compare(ctx context.Context, w *work.Place, members []heapMember, heaps []heapScorer) error {
	isInOrder := slices.IsSortedFunc(members, func(a, b heapMember) int { return cmp.Compare(a.piece, b.piece) })
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
		document := gatheredSet{ref: m.ref, size: int(m.size), set: w.Hashes}
		if m.input != 0 {
			document.input = &gatheredSet{ref: m.input, size: document.size}
		}
		if m.star, err = heaps[m.heap].member(&document); err != nil {
			return err
		}
	}
	return nil
}

// setOf returns the bytes of a set, whose piece may be held.
func setOf(w *work.Place, m *heapMember, isHeld bool) ([]byte, error) {
	if isHeld {
		return w.Buffers[0][m.offset : m.offset+m.bytes()], nil
	}
	var err error
	w.Buffers[1], err = w.Reader.ReadStretch(w.Buffers[1][:0], w.Pieces[m.piece], m.offset, m.bytes())
	return w.Buffers[1], err
}

// noLeader stands for none.
const noLeader = ^uint32(0)

// member compares a document with the leaders, writes the edges that are worth a row,
// and makes it a leader if it is like none, or of the reference. It returns the leader
// that it is most like, which may be itself.
func (h *heapScorer) member(m *gatheredSet) (star uint32, err error) {
	h.group.Note(m.ref)
	if class := m.class(); max(class.First, class.Input) < h.f.FirstInput {
		h.ofReference++
	}
	candidates, isComplete := h.index.Candidates(m.set)
	if err := h.compare(m, candidates); err != nil {
		return noLeader, err
	}
	isReference := m.ref < h.f.FirstInput
	if star = noLeader; len(h.found) > 0 {
		star = h.found[0].leader
		h.sizes[star]++
		if !isReference {
			return star, nil
		}
	}
	if isLeader := h.index.Add(m.set); !isLeader {
		isComplete = false
	} else {
		h.lead(m)
		if star == noLeader {
			star = uint32(len(h.leaders) - 1)
		}
	}
	if len(h.found) == 0 && !isComplete && !isReference {
		h.unchecked++
		return star, h.writeUnchecked(m.ref)
	}
	return star, nil
}

// writeUnchecked writes that a document was not compared with all leaders before it.
func (h *heapScorer) writeUnchecked(ref docref.Ref) error {
	b, err := h.w.Run.Record(records.Unchecked, documents.SplitOf(h.f.Starts, ref), records.RefSize)
	if err == nil {
		records.PutRef(b, ref)
	}
	return err
}

// lead makes a document a leader, whose set the index holds.
func (h *heapScorer) lead(m *gatheredSet) {
	number := uint32(len(h.leaders))
	leader := *m
	leader.set = h.index.Set(number)
	h.leaders = append(h.leaders, leader)
	h.joined = append(h.joined, number)
	h.sizes = append(h.sizes, 1)
}

// foundLeader is a leader that a document is like.
type foundLeader struct {
	leader uint32
	edge   records.Edge
}

// compare finds the leaders that a document is like, the most similar ones first. Of the
// edges to these it writes the first, that to the most similar one of the reference, and
// those that join what was not joined.
func (h *heapScorer) compare(m *gatheredSet, with []uint32) error {
	h.found = h.found[:0]
	for _, number := range with {
		if e, ok := h.score(&h.leaders[number], m); ok {
			h.found = append(h.found, foundLeader{number, e})
		}
	}
	slices.SortFunc(h.found, func(a, b foundLeader) int {
		return cmp.Or(cmp.Compare(b.edge.Similarity(), a.edge.Similarity()), cmp.Compare(a.leader, b.leader))
	})
	hasReference := false
	for i, l := range h.found {
		leader, first := &h.leaders[l.leader], h.found[0].leader
		isReference := leader.ref < h.f.FirstInput
		if i > 0 && h.joined.Find(l.leader) == h.joined.Find(first) && (hasReference || !isReference) {
			continue
		}
		hasReference = hasReference || isReference
		h.joined.Union(first, l.leader)
		if err := h.add(leader, m, l.edge); err != nil {
			return err
		}
	}
	return nil
}

// score compares a document with a leader. In a heap a key in common is not enough:
// without verification, too, an edge has an estimate that reaches the threshold.
func (h *heapScorer) score(leader, m *gatheredSet) (records.Edge, bool) {
	job := &h.f.Job
	if low, high := min(m.size, leader.size), max(m.size, leader.size); float64(low)/float64(high) < job.Threshold {
		return records.Edge{}, false
	}
	if _, _, compared := candidates.Ends(leader.class(), m.class(), h.f.FirstInput); !compared {
		return records.Edge{}, false
	}
	h.compared++
	e, ok := job.score(leader, m)
	return e, ok && (job.Verify != methods.VerifyNone || e.Similarity() >= job.Threshold)
}

// add writes an edge between a leader and a document.
func (h *heapScorer) add(leader, m *gatheredSet, e records.Edge) error {
	x, y, _ := candidates.Ends(leader.class(), m.class(), h.f.FirstInput)
	e.Total |= records.HeapMark
	return h.graph.add(&h.w.Run, leader.of(x), m.of(y), e)
}

// count counts what was compared, and what was not.
func (h *heapScorer) count() {
	h.w.Figures.Records += h.group.Documents
	h.w.Outcome.Counts.Candidates += h.compared
	skipped := h.f.Layout.Skipped(&h.group, candidates.PairsOf(h.group.Documents, h.ofReference)-h.compared)
	skipped.Kept = h.unchecked
	h.w.Outcome.Skipped.Add(skipped)
}

// writeStars writes the documents of the stars that have many pairs.
func (f *heapFn) writeStars(w *work.Place, members []heapMember, heaps []heapScorer, number int) error {
	for i := range members {
		m := &members[i]
		heap := &heaps[m.heap]
		if m.star == noLeader || candidates.PairsOf(heap.sizes[m.star], 0) <= f.Job.Bounds.Group {
			continue
		}
		for _, ref := range []docref.Ref{m.ref, m.input} {
			if ref == 0 {
				continue
			}
			b, err := w.Run.Record(records.Stars, number, records.StarSize)
			if err != nil {
				return err
			}
			records.PutRef(b, ref)
			records.PutRef(b[records.RefSize:], heap.leaders[m.star].ref)
		}
	}
	return nil
}
