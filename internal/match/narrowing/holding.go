package narrowing

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/settle/standing"
)

// holding holds documents back until all documents of their component of the last run have been looked at. If none of these is touched, the
// component stands, and later stages need to know no more than its number. It does so where the documents lie near one another. Later stages
// look at all others.
type holding struct {
	list  *standing.List // nil if nothing is held
	large int
	// places are the documents of components that come next.
	places []standing.Place

	blocks    []sketchblock.Block
	buffers   [][]byte // of the blocks, then some that are free
	documents []held
	sets      []byte
	bytes     int     // of the blocks
	untouched []uint8 // documents of each component that are held and not touched
	early     []uint32
}

// held is a document that may have been in a pair, or has keys.
type held struct {
	block, document    uint32
	component          uint32 // noComponent if it is in none that may stand
	set                uint32 // size of its packed set
	isKeyed, isPaired  bool
	isFirstOfComponent bool
}

// noComponent is no number of a component.
const noComponent = ^uint32(0)

// heldBytes is about how many bytes of blocks and sets a task holds: some 20,000 documents have as many.
const heldBytes = 1 << 20

// newHolding returns the holding of a task.
func newHolding(rules standing.Rules, documents int64, w *work.Desk) (h holding, err error) {
	if rules.List == "" {
		return h, nil
	}
	if h.list, err = standing.Read(string(rules.List)); err != nil {
		return h, err
	}
	w.Hold(h.list)
	h.large, h.places, h.untouched = rules.LargeOf(documents), h.list.Places(), make([]uint8, len(h.list.Components))
	return h, nil
}

// isFull reports whether a task holds enough.
func (h *holding) isFull() bool { return h.bytes+len(h.sets) >= heldBytes }

// begin keeps a block, which lies in the first buffer of the desk, and gives the desk another one.
func (h *holding) begin(block *sketchblock.Block, w *work.Desk) {
	if h.list == nil {
		return
	}
	if block.Len() > 0 {
		next, _ := slices.BinarySearchFunc(h.places, block.Ref(0), func(p standing.Place, ref docref.Ref) int { return cmp.Compare(p.Ref, ref) })
		h.places = h.places[next:]
	}
	h.bytes += len(w.Buffers[0])
	n := len(h.blocks)
	if h.blocks = append(h.blocks, *block); n == len(h.buffers) {
		h.buffers = append(h.buffers, nil)
	}
	h.buffers[n], w.Buffers[0] = w.Buffers[0], h.buffers[n]
}

// hold holds a document of the last block.
func (h *holding) hold(ref docref.Ref, d held, set []byte, isTouched bool) {
	for len(h.places) > 0 && h.places[0].Ref < ref {
		h.places = h.places[1:]
	}
	d.block, d.component = uint32(len(h.blocks)-1), noComponent
	if len(h.places) > 0 && h.places[0].Ref == ref {
		if d.component = h.places[0].Component; !isTouched {
			h.untouched[d.component]++
		}
		d.isFirstOfComponent = h.list.Documents(int(d.component))[0].Ref == ref
	}
	if d.isKeyed {
		d.set = uint32(len(set))
		h.sets = append(h.sets, set...)
	}
	h.documents = append(h.documents, d)
}

// letGo visits the documents that are held, and forgets them. It passes over documents of components that stand.
func (h *holding) letGo(visit func(block *sketchblock.Block, d *held, set []byte) error) error {
	sets := h.sets
	for i := range h.documents {
		d := &h.documents[i]
		set := sets[:d.set:d.set]
		sets = sets[d.set:]
		if h.stands(d.component) {
			if d.isFirstOfComponent {
				h.early = append(h.early, d.component)
			}
			continue
		}
		if err := visit(&h.blocks[d.block], d, set); err != nil {
			return err
		}
	}
	for _, d := range h.documents {
		if d.component != noComponent {
			h.untouched[d.component] = 0
		}
	}
	h.blocks, h.documents, h.sets, h.bytes = h.blocks[:0], h.documents[:0], h.sets[:0], 0
	return nil
}

// stands reports whether all documents of a component are held, and none is touched.
func (h *holding) stands(component uint32) bool {
	return component != noComponent && int(h.untouched[component]) == len(h.list.Documents(int(component))) && h.list.StandsEarly(int(component), h.large)
}

// write writes the numbers of the components that stand.
func (h *holding) write(w *work.Desk) error {
	if len(h.early) == 0 {
		return nil
	}
	return w.Run.Section(records.Standing, 0, standing.AppendChosen(nil, h.early))
}
