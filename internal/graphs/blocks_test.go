package graphs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/docref"
)

// TestBlocks: blocks follow the order of sizes without a gap, and hold as many
// shingles as they may.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, capacity := range []int64{1, 50, 1000, 1 << 40} {
		documents := make([]Sized, 300)
		for i := range documents {
			documents[i] = Sized{docref.Ref(random.Uint64()), 1 + random.Uint32N(100)}
		}
		want := slices.Clone(documents)
		blocks := Blocks(documents, capacity)
		load := make([]int64, len(documents))
		for i, block := range blocks {
			if i > 0 && (documents[i].Size < documents[i-1].Size || block != blocks[i-1] && block != blocks[i-1]+1) {
				t.Fatalf("capacity %d: document %d of size %d is in block %d, the one before of size %d in %d",
					capacity, i, documents[i].Size, block, documents[i-1].Size, blocks[i-1])
			}
			if i > 0 && block != blocks[i-1] && load[blocks[i-1]]+int64(documents[i].Size) <= capacity {
				t.Fatalf("capacity %d: document %d had room in block %d", capacity, i, blocks[i-1])
			}
			if load[block] > 0 && load[block]+int64(documents[i].Size) > capacity {
				t.Fatalf("capacity %d: block %d is too full for document %d", capacity, block, i)
			}
			load[block] += int64(documents[i].Size)
		}
		for _, d := range want {
			if !slices.Contains(documents, d) {
				t.Fatalf("capacity %d: %v is lost", capacity, d)
			}
		}
	}
	if blocks := Blocks(nil, 10); len(blocks) != 0 {
		t.Errorf("blocks of nothing: %v", blocks)
	}
}
