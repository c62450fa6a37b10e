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
			document: preference.Ranked{Ref: s.Ref, Priority: s.Priority},
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
		return nil, fmt.Errorf("heaps have %d documents, but %d sets came", want, len(members))
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
		hotGroups[i] = hotGroup{HotGroups: h, w: w, edges: edges, index: graphs.NewPivots(size, h.Threshold, prefix)}
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
		d := newDocument(&records.PlacedSet{Ref: m.document.Ref, Size: m.size, Second: m.second, Side: m.side})
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

// writeStars writes the documents of stars with many pairs.
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
			if err := records.WritePair(&w.Run, records.Stars, int(place), ref, of.pivots[m.star].ref); err != nil {
				return err
			}
		}
	}
	return nil
}
