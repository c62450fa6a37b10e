package gathering

import (
	"context"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
)

// Heaps joins dense groups to heaps, gives each heap a place and makes the tasks that send sets there. Dense groups
// that share documents make one heap. It has too many pairs to compare them all.
type Heaps struct {
	// Inputs is the path of the file that [documents.WriteInputs] made.
	Inputs work.Path
	// PlaceBytes is about how many bytes the sets of the heaps of a place take, at 8 bytes a shingle. One heap may take
	// more: a heap is not cut.
	PlaceBytes int64

	layout documents.Layout
}

// Setup reads the inputs.
func (h *Heaps) Setup() error { return h.layout.Read(string(h.Inputs)) }

// Plan places the heaps. The outcome of the step names the run file that holds the number of documents of the heaps of
// each place. It names none if there is no heap. The tasks are tasks of [Sending], with the step [SetsStep].
func (h *Heaps) Plan(_ context.Context, p *work.Planning) error {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	graph, inputs, err := readHeaps(work.RunsBut(p.Outcomes, work.Fingerprint), p.Memory)
	if err != nil {
		return err
	}
	if err := h.place(graph, inputs, p.Memory); err != nil {
		return err
	}
	if p.Outcome.Run, err = p.Run.Close(); err != nil || p.Outcome.Run == "" {
		return err
	}
	return p.Deliver(SetsDelivery(), append(work.RunsOf(p.Outcomes), p.Outcome.Run))
}

// place packs heaps into places and wants their documents there.
func (h *Heaps) place(graph *components.Graph, inputs map[docref.Ref]docref.Ref, m *work.Memory) error {
	// A heap too large for one place gets the first of its places only.
	locations, places := graph.Locations(max(h.PlaceBytes/hashBytes, 1))
	heaps := map[components.Rank]records.HeapNumber{} // by root
	next := make([]records.HeapNumber, places)
	sizes := make([]uint32, places)
	roots := graph.Roots()
	for rank, ref := range graph.Refs() {
		place := locations[rank].First
		heap, known := heaps[roots[rank]]
		if !known {
			heap = next[place]
			heaps[roots[rank]] = heap
			next[place]++
		}
		sizes[place]++
		if err := want(&m.Run, &h.layout, records.Want{Ref: ref, Place: place, Second: inputs[ref], Heap: heap}); err != nil {
			return err
		}
	}
	for place := range components.Place(places) {
		if sizes[place] == 0 {
			continue
		}
		if err := records.WriteHeaps(&m.Run, place, sizes[place]); err != nil {
			return err
		}
	}
	return nil
}

// readHeaps returns the graph of the documents of dense groups. The map holds, for documents of the reference, the
// equal document of the input, if any.
func readHeaps(runs []string, m *work.Memory) (*components.Graph, map[docref.Ref]docref.Ref, error) {
	var graph components.Graph
	inputs := map[docref.Ref]docref.Ref{}
	err := work.EachPart(runs, records.HeapMembers, m, func(_ int, members []byte) error {
		var part components.Part
		m.Nodes.Reset()
		node := func(ref docref.Ref, weight uint32) components.Node {
			node, isNew := m.Nodes.Add(uint64(ref))
			if isNew {
				part.Add(ref, weight)
			}
			return node
		}
		for ; len(members) > 0; members = members[records.HeapMemberSize:] {
			member := records.GetHeapMember(members)
			// The other document came earlier, with its own size: it is the first of its group.
			part.Parents.Union(node(member.Ref, member.Size), node(member.Other, member.Size))
			if member.Second != 0 {
				inputs[member.Ref] = member.Second
			}
		}
		graph.Add(part)
		return nil
	})
	graph.Finish()
	return &graph, inputs, err
}
