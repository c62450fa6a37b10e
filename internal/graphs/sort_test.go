package graphs

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortFunc: any list is sorted as slices.SortFunc does.
func TestSortFunc(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, element := range map[string]func(i int) uint64{
		"random":    func(int) uint64 { return random.Uint64() },
		"few":       func(int) uint64 { return random.Uint64N(3) },
		"one":       func(int) uint64 { return 7 },
		"ascending": func(i int) uint64 { return uint64(i) },
		"falling":   func(i int) uint64 { return uint64(-i) },
		"steps":     func(i int) uint64 { return uint64(i / 1000) },
	} {
		list := make([]uint64, 5*fewSorted+3)
		for i := range list {
			list[i] = element(i)
		}
		want := slices.Sorted(slices.Values(list))
		asked := 0
		if err := SortFunc(list, cmp.Compare, func() error { asked++; return nil }); err != nil ||
			!slices.Equal(list, want) {
			t.Errorf("%s: not sorted (%v)", name, err)
		}
		if asked == 0 {
			t.Errorf("%s: never asked", name)
		}
	}
}

// TestSortStops: a sort that nobody wants ends at once, and one that nobody can stop does not ask.
func TestSortStops(t *testing.T) {
	list := make([]uint64, 5*fewSorted)
	for i := range list {
		list[i] = rand.Uint64()
	}
	fault, compared := errors.New("stop"), 0
	err := SortFunc(list, func(a, b uint64) int { compared++; return cmp.Compare(a, b) }, func() error { return fault })
	if !errors.Is(err, fault) || compared > 0 {
		t.Errorf("%d comparisons, error %v", compared, err)
	}
	if err := SortFunc(list, cmp.Compare, nil); err != nil || !slices.IsSorted(list) {
		t.Errorf("not sorted: %v", err)
	}
}

// TestLeast: it is what a stable sort would have first.
func TestLeast(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		items := make([][2]int, random.IntN(20))
		most := random.IntN(8)
		compare := func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }
		l := NewLeast(most, compare)
		for i := range items {
			items[i] = [2]int{random.IntN(10), i}
			l.Add(items[i])
		}
		slices.SortStableFunc(items, compare)
		if want := items[:min(most, len(items))]; !slices.Equal(l.Items, want) {
			t.Fatalf("%v, want %v", l.Items, want)
		}
	}
}
