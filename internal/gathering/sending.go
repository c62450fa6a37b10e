package gathering

import (
	"context"
	"slices"

	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// The steps of [Sending].
const (
	// PairsStep sends the candidate pairs of a part to their places.
	PairsStep = iota
	// SetsStep sends the wanted sets of a split to their places.
	SetsStep
)

// SetsDelivery makes a task of [SetsStep] for each split that has a wanted document.
func SetsDelivery() work.Delivery {
	return work.Delivery{Step: SetsStep, Needed: []runfile.Kind{records.Wanted}, Extra: []runfile.Kind{records.Documents, records.Sets}}
}

// Sending sends the pairs of a part of the candidate graph, or the wanted sets of a split,
// to their places.
type Sending struct {
	// Inputs is the path of the file that [documents.WriteInputs] made.
	Inputs work.Path

	layout documents.Layout
}

// Setup reads the inputs.
func (s *Sending) Setup() error { return s.layout.Read(string(s.Inputs)) }

// Task does the step of the task.
func (s *Sending) Task(ctx context.Context, t work.Task, w *work.Place) error {
	if t.Step == PairsStep {
		return s.sendPairs(w)
	}
	return sendSets(ctx, w)
}

// sendPairs sends the pairs of a part to their places, except pairs within one star. For documents of components with
// several places, it writes where they are wanted.
func (s *Sending) sendPairs(w *work.Place) error {
	nodes, err := w.Read(0, records.Nodes)
	if err != nil {
		return err
	}
	places, err := w.Read(1, records.Places)
	if err != nil {
		return err
	}
	p := pairSender{run: &w.Run, nodes: nodes, places: places, wanted: w.Pairs[:0], crowded: 4 * len(nodes) / records.NodeSize}
	for _, piece := range w.Pieces {
		if piece.Kind != records.Numbers {
			continue
		}
		numbers, err := w.ReadPiece(2, piece)
		if err != nil {
			return err
		}
		w.Figures.Records += int64(len(numbers) / records.NumberSize)
		w.Figures.Bytes += int64(len(numbers))
		if err := p.send(numbers); err != nil {
			return err
		}
	}
	p.compact()
	w.Pairs = p.wanted
	for _, at := range p.wanted {
		ref := records.GetRef(nodes[at>>32*records.NodeSize:])
		if err := want(&w.Run, &s.layout, records.Want{Ref: ref, Place: int(uint32(at))}); err != nil {
			return err
		}
	}
	return nil
}

// pairSender sends the pairs of a part.
type pairSender struct {
	run           *runfile.Writer
	nodes, places []byte
	wanted        []uint64 // node and place in two halves of a word
	crowded       int      // number of wanted that makes a search for repeats worthwhile
}

// send sends pairs, given by the numbers of their nodes.
func (p *pairSender) send(numbers []byte) error {
	for ; len(numbers) > 0; numbers = numbers[records.NumberSize:] {
		a, b := records.GetNumbers(numbers)
		placeA, placeB := p.places[a*records.PlaceSize:], p.places[b*records.PlaceSize:]
		if star := records.GetStar(placeA); star != 0 && star == records.GetStar(placeB) {
			continue
		}
		place := records.GetPlace(placeA)
		at := place.Of(records.GetPlace(placeB))
		if place.Blocks > 1 {
			p.wanted = append(p.wanted, uint64(a)<<32|uint64(at), uint64(b)<<32|uint64(at))
		}
		if err := records.WritePair(p.run, at, records.GetRef(p.nodes[a*records.NodeSize:]), records.GetRef(p.nodes[b*records.NodeSize:])); err != nil {
			return err
		}
	}
	if len(p.wanted) >= p.crowded {
		p.compact()
		p.crowded = max(p.crowded, 2*len(p.wanted))
	}
	return nil
}

// compact sorts wanted and drops repeats.
func (p *pairSender) compact() {
	slices.Sort(p.wanted)
	p.wanted = slices.Compact(p.wanted)
}

// sendSets sends the wanted sets of a split to their places.
func sendSets(ctx context.Context, w *work.Place) error {
	packed, err := w.Read(1, records.Wanted)
	if err != nil {
		return err
	}
	wanted := records.DecodeWanted(packed)
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		if len(wanted) == 0 || wanted[0].Ref > block.Ref(block.Len()-1) {
			return nil
		}
		sets, err := w.ReadPiece(2, setsPiece)
		if err != nil {
			return err
		}
		for i, set := range block.Sets(sets) {
			for ; len(wanted) > 0 && wanted[0].Ref == block.Ref(i); wanted = wanted[1:] {
				if err := records.WriteSet(&w.Run, wanted[0], block, i, set); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
