package gathering

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

// Where all pairs are compared there are no candidates to gather. The documents, ordered by size, are cut into blocks.
// Each set is sent once, to its block. The task of a block compares the block with itself and with earlier blocks, of
// smaller documents, while sizes allow the threshold.

// placeBlocks wants each distinct document at its block, and marks each block. It reports whether there are any blocks.
func (c *Components) placeBlocks(runs []string, m *work.Memory) (bool, error) {
	all, inputs, err := readDistinct(runs, m)
	if err != nil || len(all) == 0 {
		return false, err
	}
	blocks := graphs.Blocks(all, BlockShingles(c.PlaceBytes))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(all[i].Ref, all[j].Ref) })
	for _, i := range order {
		ref := all[i].Ref
		if err := want(&m.Run, &c.layout, records.Want{Ref: ref, Place: blocks[i], Second: inputs[ref]}); err != nil {
			return false, err
		}
	}
	for block := range blocks[len(blocks)-1] + 1 {
		if _, err := m.Run.Record(records.Blocks, int(block), 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

// BlockShingles returns how many shingles a block holds, given the size of a place: a task holds two blocks.
func BlockShingles(placeBytes int64) int64 { return placeBytes / (2 * hashBytes) }

// readDistinct returns the distinct documents. Inputs holds, for documents of the reference, the equal document of the
// input, if any.
func readDistinct(runs []string, m *work.Memory) (all []graphs.Sized, inputs map[docref.Ref]docref.Ref, err error) {
	inputs = map[docref.Ref]docref.Ref{}
	var part graphs.Part
	err = work.EachPart(runs, records.Distinct, m, func(_ int, nodes []byte) error {
		part = records.DecodePart(part, nodes)
		for i, ref := range part.Refs {
			if first := part.Refs[part.Parents[i]]; first != ref {
				inputs[first] = ref
				continue
			}
			all = append(all, graphs.Sized{Ref: ref, Size: part.Weights[i]})
		}
		return nil
	})
	return all, inputs, err
}
