package state

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/storage"
)

// TestTable: a table has each cached pair once, in the order of the digests.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 1000} {
		var packed []byte
		want := map[[2]digest.Digest]records.Score{}
		for range n {
			v := CachedPairOf(digest.Digest{random.Uint64N(50), random.Uint64()}, digest.Digest{random.Uint64(), 1},
				records.NewScore(random.IntN(100), 100+random.IntN(9), random.IntN(2) == 0))
			packed = v.Append(v.Append(packed))
			want[[2]digest.Digest{v.A, v.B}] = v.Score
		}
		path := filepath.Join(t.TempDir(), "pairs")
		if err := WriteCachedPairs(path, packed, nil); err != nil {
			t.Fatal(err)
		}
		table, err := ReadCachedPairs(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[[2]digest.Digest]records.Score{}
		for i := range table.Len() {
			v := table.At(i)
			if got[[2]digest.Digest{v.A, v.B}] = v.Score; i > 0 && table.At(i-1).compare(v) >= 0 {
				t.Errorf("cached pair %d of %d is out of order", i, n)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("the table has %d pairs, want %d", len(got), len(want))
		}
		whole, err := storage.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole[:min(len(whole), 200)] {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1
			if _, err := checkCachedPairs(damaged); err == nil {
				t.Errorf("byte %d of %d can change", i, len(whole))
			}
		}
	}
}
