package lshbands

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestGrowing compares with a plain list, with and without a window, over many
// merges.
func TestGrowing(t *testing.T) {
	const count = 4 * leastMerged
	for name, list := range keyLists {
		for _, window := range []int{0, 1, 100, 2 * leastMerged} {
			random := rand.New(rand.NewPCG(6, uint64(window)))
			keys := list(random, count)
			random.Shuffle(count, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			growing, held := NewGrowing(newTable(t, slices.Sorted(slices.Values(keys[:100])))), keys[:100]
			if window > 0 {
				growing, held = must(NewSliding(window)), keys[:0]
			}
			for i := len(held); i < count; i++ {
				if err := growing.Add(keys[i]); err != nil {
					t.Fatal(err)
				}
				held = keys[:i+1]
				if window > 0 {
					held = held[max(0, i+1-window):]
				}
				if i%497 != 0 && i != count-1 {
					continue
				}
				want := slices.Sorted(slices.Values(held))
				if growing.Len() != len(want) {
					t.Fatalf("%s, window %d: %d keys after %d, want %d", name, window, growing.Len(), i+1, len(want))
				}
				for range 20 {
					prefixBits := random.IntN(65)
					prefix := probe(random, keys) >> (64 - prefixBits)
					got := growing.AppendRange([]uint64{9}, prefix, prefixBits)
					if !slices.Equal(got[1:], within(want, prefix, prefixBits)) {
						t.Fatalf("%s, window %d, after %d keys: those of the prefix %x are others", name, window, i+1, prefix)
					}
				}
			}
		}
	}
}

// TestGrowingForMany has goroutines that add keys and others that search. Each adder adds keys with its own
// prefix in ascending order. So a searcher must see more and more of them, without a gap.
func TestGrowingForMany(t *testing.T) {
	const adding, each = 3, leastMerged
	growing := NewGrowing(&Table{})
	var all sync.WaitGroup
	for prefix := range uint64(adding) {
		all.Go(func() {
			for i := range uint64(each) {
				if err := growing.Add(prefix<<62 | i); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for seen := 0; seen < each; {
				keys := growing.AppendRange(nil, prefix, 2)
				if len(keys) < seen || len(keys) > 0 && keys[len(keys)-1] != prefix<<62|uint64(len(keys)-1) {
					t.Errorf("%d keys, the last %x, after %d", len(keys), keys[len(keys)-1], seen)
					return
				}
				seen = len(keys)
			}
		})
	}
	all.Wait()
	if growing.Len() != adding*each {
		t.Errorf("%d keys, want %d", growing.Len(), adding*each)
	}
}
