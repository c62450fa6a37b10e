package state

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/storage"
)

// TestTable: a table finds what it holds, in either order of the digests, and nothing else.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 1000} {
		var packed []byte
		want := map[[2]digest.Digest]records.Score{}
		for range n {
			v := VerdictOf(digest.Digest{random.Uint64N(50), random.Uint64()}, digest.Digest{random.Uint64(), 1}, records.NewScore(random.IntN(100), 100+random.IntN(9), random.IntN(2) == 0))
			packed = v.Append(v.Append(packed))
			want[[2]digest.Digest{v.A, v.B}] = v.Score
		}
		path := filepath.Join(t.TempDir(), "verdicts")
		if err := WriteVerdicts(path, nil, packed, nil); err != nil {
			t.Fatal(err)
		}
		table, err := ReadVerdicts(path)
		if err != nil {
			t.Fatal(err)
		}
		checkMerged(t, random, path, table, packed)
		for pair, score := range want {
			if got, found := table.Find(pair[1], pair[0]); !found || got != score {
				t.Errorf("%v: %v, %v, want %v", pair, got, found, score)
			}
			if _, found := table.Find(pair[0], digest.Digest{pair[1][0], pair[1][1] + 1}); found {
				t.Errorf("%v: the table has a neighbour", pair)
			}
		}
		whole, err := storage.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole[:min(len(whole), 200)] {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1
			if _, err := checkVerdicts(damaged); err == nil {
				t.Errorf("byte %d of %d can change", i, len(whole))
			}
		}
	}
}

// checkMerged checks that the verdicts of a table and others make the table that all of them make. Some are in both.
func checkMerged(t *testing.T, random *rand.Rand, path string, all *Verdicts, packed []byte) {
	t.Helper()
	var some, others []byte
	for ; len(packed) > 0; packed = packed[VerdictSize:] {
		part := random.IntN(3)
		if part != 1 {
			some = append(some, packed[:VerdictSize]...)
		}
		if part != 0 {
			others = append(others, packed[:VerdictSize]...)
		}
	}
	if err := WriteVerdicts(path, nil, some, nil); err != nil {
		t.Fatal(err)
	}
	table, err := ReadVerdicts(path)
	if err == nil {
		err = WriteVerdicts(path, table, others, nil)
	}
	if err == nil {
		table, err = ReadVerdicts(path)
	}
	if err != nil || !bytes.Equal(table.packed, all.packed) {
		t.Errorf("%v: %d verdicts are merged, want %d", err, table.Len(), all.Len())
	}
}
