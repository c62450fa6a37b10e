package candidates

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/docref"
)

// Sized is a document and the number of its shingles.
type Sized struct {
	Ref  docref.Ref
	Size uint32
}

// Blocks orders documents by size, then by ref, and cuts them into blocks of at
// most about capacity shingles, but at least a document, to be compared block by
// block. It returns the block of each document in the new order.
func Blocks(documents []Sized, capacity int64) []uint32 {
	slices.SortFunc(documents, func(a, b Sized) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	blocks := make([]uint32, len(documents))
	block, load := uint32(0), int64(0)
	for i, d := range documents {
		if load > 0 && load+int64(d.Size) > capacity {
			block++
			load = 0
		}
		load += int64(d.Size)
		blocks[i] = block
	}
	return blocks
}
