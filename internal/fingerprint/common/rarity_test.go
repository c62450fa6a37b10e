package common

import (
	"testing"

	"mirrorbeam.dev/internal/records"
)

// TestRarities: a shingle counts one over the other documents that have it; one that is not listed counts one.
func TestRarities(t *testing.T) {
	r := Rarities{[]records.Frequent{{Shingle: 3, Documents: 3}, {Shingle: 5, Documents: 4}, {
		Shingle:   9,
		Documents: 5000,
	}}}
	for shingle, want := range map[uint64]uint32{1: 1000, 3: 500, 5: 333, 6: 1000, 9: 0} {
		if got := r.Of(shingle); got != want {
			t.Errorf("shingle %d: %d, want %d", shingle, got, want)
		}
	}
}
