package graphs

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/ground/docref"
)

// Sized is a document and the number of its distinct shingles.
type Sized struct {
	Ref  docref.Ref
	Size uint32
}

// Blocks orders documents by size, then by ref, and cuts them into blocks. A block is a place: its task compares it with
// itself and with earlier blocks. It holds about capacity shingles at most, but at least one document. Blocks returns the
// block of each document in the new order.
func Blocks(documents []Sized, capacity int64) []Place {
	slices.SortFunc(documents, func(a, b Sized) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	blocks := make([]Place, len(documents))
	block, load := Place(0), int64(0)
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
