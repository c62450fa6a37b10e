package gathering

import (
	"context"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// HotGroups joins dense groups to hot groups, gives each hot group a place and makes the tasks that send sets there.
// Dense groups that share documents make one hot group. It has too many pairs to compare them all.
type HotGroups struct {
	Inputs work.Path
	// PlaceBytes is about how many bytes the sets of the hot groups of a place take, at 8 bytes a shingle. One hot
	// group may take more: a hot group is not cut.
	PlaceBytes int64
	// GraphBytes is about how much memory the documents of hot groups may take.
	GraphBytes int64

	layout documents.Layout
}

func (h *HotGroups) Setup() error { return h.layout.Read(string(h.Inputs)) }

// Plan places the hot groups. Its outcome names the run file with the number of documents of the hot groups of each
// place, or none. The tasks are tasks of [Sending], with the step [SetsStep].
func (h *HotGroups) Plan(_ context.Context, p *work.Planning) error {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	placing := &placingHotGroups{
		run:       &p.Run,
		layout:    &h.layout,
		packer:    graphs.NewPacker(h.PlaceBytes / hashBytes),
		inputs:    map[docref.Ref]docref.Ref{},
		hotGroups: map[graphs.Place]records.HotGroupNumber{},
		sizes:     map[graphs.Place]uint32{},
	}
	graph := &joining.Graph{Bytes: h.GraphBytes, Folder: string(p.Runs.Folder), Stopped: p.Run.Stopped}
	runs := work.RunsBut(p.Outcomes, work.Fingerprint, work.Strip, work.Prune)
	graph.Parts = func(visit func(int, graphs.Part) error) error {
		return eachHotGroupPart(runs, placing.inputs, p.Memory, visit)
	}
	err := joining.Label(graph, placing)
	if err == nil {
		err = placing.writeSizes()
	}
	if err != nil {
		return err
	}
	if p.Outcome.Run, err = p.Run.Close(); err != nil || p.Outcome.Run == "" {
		return err
	}
	return p.Deliver(SetsDelivery(), append(work.RunsOf(p.Outcomes), p.Outcome.Run))
}

type placingHotGroups struct {
	run    *runfile.Writer
	layout *documents.Layout
	packer *graphs.Packer
	inputs map[docref.Ref]docref.Ref // for documents of the reference, the equal document of the input, if any

	hotGroups map[graphs.Place]records.HotGroupNumber // number of hot groups of each place
	sizes     map[graphs.Place]uint32                 // number of documents in them
}

func (h *placingHotGroups) Count(joining.Component) {}

// Place returns the place and number of a hot group. One that is too large gets the first of its places only.
func (h *placingHotGroups) Place(c joining.Component) (uint64, error) {
	location, err := h.packer.Pack(c.Weight)
	if err != nil {
		return 0, err
	}
	hotGroup := h.hotGroups[location.First]
	h.hotGroups[location.First]++
	return uint64(location.First) | uint64(hotGroup)<<32, nil
}

func (h *placingHotGroups) Document(d joining.Document) (none struct{}, err error) {
	place, hotGroup := graphs.Place(d.Component.Value), records.HotGroupNumber(d.Component.Value>>32)
	h.sizes[place]++
	return none, want(h.run, h.layout, records.Want{
		Ref:      d.Ref,
		Place:    place,
		Second:   h.inputs[d.Ref],
		HotGroup: hotGroup,
	})
}

func (h *placingHotGroups) Node(int, graphs.Node, struct{}) error { return nil }

func (h *placingHotGroups) writeSizes() error {
	for _, place := range slices.Sorted(maps.Keys(h.sizes)) {
		size := h.sizes[place]
		if err := records.Write(h.run, records.HotGroups, int(place), &size); err != nil {
			return err
		}
	}
	return nil
}

// eachHotGroupPart visits the parts of the graph of the documents of dense groups. It notes in inputs, for documents of
// the reference, the equal document of the input.
func eachHotGroupPart(runs []string, inputs map[docref.Ref]docref.Ref, m *work.Memory,
	visit func(int, graphs.Part) error,
) error {
	return work.EachPart(runs, records.HotGroupMembers, m, func(number int, members []byte) error {
		var part graphs.Part
		m.Nodes.Reset()
		node := func(ref docref.Ref, weight uint32) graphs.Node {
			node, isNew := m.Nodes.Add(uint64(ref))
			if isNew {
				part.Add(ref, weight)
			}
			return node
		}
		for member := range records.All[records.HotGroupMember](members) {
			// The other document came earlier, with its own size: it is the first of its group.
			part.Parents.Union(node(member.Ref, member.Size), node(member.Other, member.Size))
			if member.Second != 0 {
				inputs[member.Ref] = member.Second
			}
		}
		return visit(number, part)
	})
}

// stars are the documents of hot groups that are like one pivot, if there are very many. They are known to be much
// alike. So the pairs of such a star are not compared, even if they have met under other keys.
type stars struct {
	documents graphs.Numbering[uint32]
	of        []records.StarNumber // by number of the document
}

// readStars reads the stars whose pairs are not compared in a job of that many documents.
func readStars(runs []string, bounds groups.Bounds, documents int64, m *work.Memory) (*stars, error) {
	s := &stars{}
	var pivots graphs.Numbering[uint32] // of all hot groups
	var sizes []int64                   // by pivot
	err := work.EachPart(runs, records.Stars, m, func(_ int, packed []byte) error {
		for pair := range records.Each[records.Pair](packed) {
			if _, isNew := s.documents.Add(uint64(pair.A)); !isNew {
				continue
			}
			pivot, isNew := pivots.Add(uint64(pair.B))
			if isNew {
				sizes = append(sizes, 0)
			}
			sizes[pivot]++
			s.of = append(s.of, records.StarNumber(pivot)+1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pairs := make([]int64, len(sizes))
	for pivot, size := range sizes {
		pairs[pivot] = candidates.PairsOf(size, 0)
	}
	limit := bounds.Limit(pairs, documents)
	for document, star := range s.of {
		if pairs[star-1] <= limit {
			s.of[document] = 0
		}
	}
	return s, nil
}

// star returns the star of a document if the pairs of the star are not compared. Otherwise it returns 0.
func (s *stars) star(ref docref.Ref) records.StarNumber {
	if number, found := s.documents.Find(uint64(ref)); found {
		return s.of[number]
	}
	return 0
}
