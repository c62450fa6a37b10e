package lshbands

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSets makes sets of 48-bit hashes: families that share most of a base, some
// identical ones, some alone.
func randomSets(random *rand.Rand, documents int) [][]uint64 {
	var sets [][]uint64
	for len(sets) < documents {
		base := make([]uint64, 1+random.IntN(60))
		for i := range base {
			base[i] = random.Uint64() >> 16
			if random.IntN(3) == 0 {
				base[i] = uint64(random.IntN(40)) << 40 // what many have
			}
		}
		for range 1 + random.IntN(4) {
			set := map[uint64]bool{}
			for _, hash := range base {
				if random.IntN(6) == 0 {
					hash = random.Uint64() >> 16
				}
				set[hash] = true
			}
			sets = append(sets, slices.Sorted(maps.Keys(set)))
		}
	}
	return sets
}

func shared(a, b []uint64) int {
	n := 0
	for _, hash := range a {
		if _, found := slices.BinarySearch(b, hash); found {
			n++
		}
	}
	return n
}

// TestPrefixKeysMissNoPair: whatever was counted, two similar sets share a key, and the first shared key
// leaves room for all that they share.
func TestPrefixKeysMissNoPair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, threshold := range []float64{0.1, 0.5, 0.7, 0.8, 0.9, 1} {
		for _, room := range []int{1, 1000, 1 << 22} {
			t.Run(fmt.Sprintf("%g/%d", threshold, room), func(t *testing.T) {
				sets := randomSets(random, 600)
				counters := NewCounters(room)
				for _, set := range sets {
					counters.Add(set)
				}
				finder := must(NewPrefixKeys(threshold))
				keys := make([][]PrefixKey, len(sets))
				for i, set := range sets {
					keys[i] = slices.Clone(finder.Of(set, counters.AppendFrequencies(nil, set)))
					checkKeys(t, set, keys[i], threshold)
				}
				pairs := 0
				for i, a := range sets {
					for j, b := range sets[:i] {
						n := shared(a, b)
						if float64(n)/float64(len(a)+len(b)-n) < threshold {
							continue
						}
						pairs++
						x, y, met := firstCommon(keys[i], keys[j])
						if !met || n > min(len(a)-int(x.Position), len(b)-int(y.Position)) {
							t.Fatalf("sets of %d and %d with %d in common: first keys %+v and %+v, any: %v", len(a),
								len(b), n, x, y, met)
						}
					}
				}
				if pairs < 5 {
					t.Errorf("only %d pairs", pairs)
				}
			})
		}
	}
}

// checkKeys checks what holds for the keys of any document.
func checkKeys(t *testing.T, set []uint64, keys []PrefixKey, threshold float64) {
	t.Helper()
	length := PrefixLength(threshold, len(set))
	seen := map[uint64]bool{}
	for i, key := range keys {
		if _, found := slices.BinarySearch(set, key.Hash); !found || seen[key.Hash] {
			t.Fatalf("key %+v is none of the document, or twice", key)
		}
		seen[key.Hash] = true
		if want := length - len(keys) + i; int(key.Position) != want {
			t.Fatalf("key %d of %d is at %d of a prefix of %d", i, len(keys), key.Position, length)
		}
	}
}

// firstCommon returns the first key of x that is one of y, in both.
func firstCommon(x, y []PrefixKey) (PrefixKey, PrefixKey, bool) {
	for _, a := range x {
		for _, b := range y {
			if a.Hash == b.Hash {
				return a, b, true
			}
		}
	}
	return PrefixKey{}, PrefixKey{}, false
}

// TestPrefixKeysSendNothingAlone: if few shingles share a cell, a document that shares no shingle with another one
// has no key, and rare shingles come before common ones.
func TestPrefixKeysSendNothingAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	counters := NewCounters(1 << 17)
	var alone [][]uint64
	for range 200 {
		set := make([]uint64, 50)
		for i := range set {
			set[i] = random.Uint64() >> 16
		}
		slices.Sort(set)
		alone = append(alone, set)
		counters.Add(set)
	}
	finder, sent := must(NewPrefixKeys(0.8)), 0
	for _, set := range alone {
		sent += len(finder.Of(set, counters.AppendFrequencies(nil, set)))
	}
	if sent > 2 {
		t.Errorf("%d keys of documents that share nothing", sent)
	}
	common := make([]uint64, 20)
	for i := range common {
		common[i] = random.Uint64() >> 16
	}
	slices.Sort(common)
	for i := range common {
		for range 5 + 40*i {
			counters.Add(common[i : i+1])
		}
	}
	keys := must(NewPrefixKeys(0.5)).Of(common, counters.AppendFrequencies(nil, common))
	for i, key := range keys {
		if key.Hash != common[i] {
			t.Fatalf("key %d of %d is not the one of the next count", i, len(keys))
		}
	}
}
