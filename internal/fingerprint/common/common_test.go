package common

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
)

func TestLaw(t *testing.T) {
	for _, c := range []struct {
		text      string
		documents int64
		limit     int64
		isOff     bool
	}{
		{"", 1000, 0, true},
		{"off", 1000, 0, true},
		{"7", 1000, 7, false},
		{"2%", 1000, 20, false},
		{"0.5%", 100, 1, false},
		{"auto", 100, 16, false},
		{"auto", 1_000_000, 1000, false},
	} {
		law, err := ParseLaw(c.text)
		if err != nil || law.IsOff() != c.isOff || law.Limit(c.documents) != c.limit {
			t.Errorf("%q: %+v, %v: %d of %d documents", c.text, law, err, law.Limit(c.documents), c.documents)
		}
	}
	for _, text := range []string{"0", "-1", "0%", "100%", "x", "2.5", "NaN%", " "} {
		if law, err := ParseLaw(text); err == nil {
			t.Errorf("%q: %+v", text, law)
		}
	}
}

// TestMostFrequent: a list that is too long loses the rarest shingles, and all of one number together.
func TestMostFrequent(t *testing.T) {
	frequent := func(counts ...int64) (all []records.Frequent) {
		for i, documents := range counts {
			all = append(all, records.Frequent{Shingle: uint64(100 - i), Documents: documents})
		}
		return all
	}
	for _, c := range []struct {
		counts []int64
		most   int
		want   []uint64
	}{
		{[]int64{3, 9, 5}, 3, []uint64{98, 99, 100}},
		{[]int64{3, 9, 5}, 2, []uint64{98, 99}},
		{[]int64{5, 9, 5, 5}, 2, []uint64{99}},
		{[]int64{5, 5, 5}, 2, []uint64{}},
	} {
		got := []uint64{}
		for _, f := range mostFrequent(frequent(c.counts...), c.most) {
			got = append(got, f.Shingle)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, at most %d: %v, want %v", c.counts, c.most, got, c.want)
		}
	}
}

// TestSieve: no frequent shingle is held back, and most of the others are.
func TestSieve(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	for _, limit := range []int64{1, 2, 16, 300, 70_000} {
		const rare, frequent = 20_000, 3
		s := newSieve(rare+frequent*(limit+1), limit)
		var hashes []uint64
		for i := range rare + frequent {
			hash, n := random.Uint64()>>16, int64(1)
			if hashes = append(hashes, hash); i < frequent {
				n = limit + 1
			}
			for range n {
				s.add(hash)
			}
		}
		passed := 0
		for i, hash := range hashes {
			if !s.passes(hash) && i < frequent {
				t.Errorf("limit %d: a shingle in %d documents is held back", limit, limit+1)
			} else if s.passes(hash) {
				passed++
			}
		}
		if passed > rare/4 {
			t.Errorf("limit %d: %d of %d shingles pass", limit, passed, len(hashes))
		}
	}
}
