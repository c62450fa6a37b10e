package keep

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/docref"
)

// TestCompare: the order is the same whatever order the documents come in.
func TestCompare(t *testing.T) {
	// A reference comes first, and its texts' lengths do not count.
	first := []Document{{1, 5, true}, {2, 50, true}, {3, 1, false}, {4, 9, false}, {5, 9, false}, {6, 2, false}}
	for _, c := range []struct {
		preference Preference
		want       []docref.Ref
	}{
		{First, []docref.Ref{1, 2, 3, 4, 5, 6}},
		{Longest, []docref.Ref{1, 2, 4, 5, 6, 3}},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			documents := slices.Clone(first)
			random.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
			slices.SortFunc(documents, c.preference.Compare)
			var got []docref.Ref
			for _, d := range documents {
				got = append(got, d.Ref)
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("%s: %d, want %d", c.preference, got, c.want)
			}
		}
		for _, d := range first {
			if c.preference.Compare(d, d) != 0 {
				t.Errorf("%s: %v is not the same as itself", c.preference, d)
			}
		}
	}
}
