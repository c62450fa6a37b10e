package gathering

import (
	"context"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
)

const (
	// PairsStep sends the candidate pairs of a part to their places.
	PairsStep = iota
	// SetsStep sends the wanted sets of a split to their places.
	SetsStep
)

// SetsDelivery makes a task of [SetsStep] for each split that has a wanted document.
func SetsDelivery() work.Delivery {
	return work.Delivery{
		Step:       SetsStep,
		Needed:     []runfile.Kind{records.Wanted},
		Extra:      []runfile.Kind{records.Documents, records.Sets, records.CommonParts},
		IntoPlaces: true,
		Enough:     work.ManyTasks,
	}
}

// Sending sends the pairs of a part of the candidate graph, or the wanted sets of a split, to their places.
type Sending struct {
	Inputs work.Path
	// Ranges is as in [Components].
	Ranges int

	layout documents.Layout
}

func (s *Sending) Setup() error { return s.layout.Read(string(s.Inputs)) }

// Task does the step of the task.
func (s *Sending) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	if t.Step == PairsStep {
		return s.sendPairs(w)
	}
	return sendSets(ctx, w)
}

// sendPairs sends the pairs of a part to their places, except pairs within one star. For documents of components with
// several places, it writes where they are wanted.
func (s *Sending) sendPairs(w *work.TaskContext) error {
	nodes, err := w.Read(0, records.Nodes)
	if err != nil {
		return err
	}
	locations, err := w.Read(1, records.Locations)
	if err != nil {
		return err
	}
	records.OrderByNode[records.NodeLocation](locations)
	p := pairSender{
		run:       &w.Run,
		stride:    strideOf(s.Ranges),
		nodes:     nodes,
		locations: locations,
		wanted:    w.Pairs[:0],
		oversized: 4 * len(nodes) / records.NodeSize,
	}
	for piece := range records.NodePairs.Of(w.Pieces) {
		pairs, err := w.ReadPiece(2, piece)
		if err != nil {
			return err
		}
		w.Figures.Records += int64(len(pairs) / records.NodePairSize)
		w.Figures.Bytes += int64(len(pairs))
		if err := p.send(pairs); err != nil {
			return err
		}
	}
	p.compact()
	w.Pairs = p.wanted
	for _, word := range p.wanted {
		node, place := unpackWanted(word)
		if err := want(&w.Run, &s.layout, records.Want{Ref: p.ref(node), Place: place}); err != nil {
			return err
		}
	}
	return nil
}

type pairSender struct {
	run              *runfile.Writer
	stride           graphs.Place
	nodes, locations []byte
	wanted, scratch  []uint64 // packed by packWanted
	oversized        int      // number of wanted that makes a search for repeats worthwhile
}

func packWanted(node graphs.Node, place graphs.Place) uint64 {
	return uint64(node)<<32 | uint64(place)
}

func unpackWanted(word uint64) (graphs.Node, graphs.Place) {
	return graphs.Node(word >> 32), graphs.Place(word)
}

func (p *pairSender) ref(node graphs.Node) docref.Ref {
	return records.At[records.Node](p.nodes, int(node)).Ref
}

func (p *pairSender) location(node graphs.Node) records.NodeLocation {
	return records.At[records.OfNode[records.NodeLocation]](p.locations, int(node)).Is
}

func (p *pairSender) send(pairs []byte) error {
	for pair := range records.Each[records.NodePair](pairs) {
		location, other := p.location(pair.A), p.location(pair.B)
		if location.Star != 0 && location.Star == other.Star {
			continue
		}
		place := location.MeetingPlace(other.Location, p.stride)
		if location.Blocks > 1 {
			p.wanted = append(p.wanted, packWanted(pair.A, place), packWanted(pair.B, place))
		}
		refs := records.Pair{A: p.ref(pair.A), B: p.ref(pair.B)}
		if err := records.WriteFixed(p.run, records.PlacePairs, int(place), refs); err != nil {
			return err
		}
	}
	if len(p.wanted) >= p.oversized {
		p.compact()
		p.oversized = max(p.oversized, 2*len(p.wanted))
	}
	return nil
}

func (p *pairSender) compact() {
	p.scratch = slices.Grow(p.scratch[:0], len(p.wanted))[:len(p.wanted)]
	sorted := graphs.RadixSort(p.wanted, p.scratch, func(word *uint64) uint64 { return *word })
	p.wanted = append(p.wanted[:0], slices.Compact(sorted)...)
}

func sendSets(ctx context.Context, w *work.TaskContext) error {
	packed, err := w.Read(1, records.Wanted)
	if err != nil {
		return err
	}
	wanted := records.DecodeWanted(packed)
	parts := slices.Collect(records.CommonParts.Of(w.Pieces)) // one for each block, or none
	number := -1
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		number++
		if len(wanted) == 0 || wanted[0].Ref > block.Ref(block.Len()-1) {
			return nil
		}
		sets, err := w.ReadPiece(2, setsPiece)
		if err != nil {
			return err
		}
		var rest []byte
		if len(parts) > 0 {
			if rest, err = w.ReadPiece(1, parts[number]); err != nil {
				return err
			}
		}
		for i, set := range block.Sets(sets) {
			if len(parts) > 0 {
				var part []byte
				if part, rest = records.NextCommonPart(rest); len(wanted) > 0 && wanted[0].Ref == block.Ref(i) {
					set = append(set, part...) // a copy
				}
			}
			for ; len(wanted) > 0 && wanted[0].Ref == block.Ref(i); wanted = wanted[1:] {
				if err := records.WriteSet(&w.Run, wanted[0], block, i, set); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
