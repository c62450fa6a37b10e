//go:build unix

package asmkernels

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMinHashStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(9, 10))
		for components := range 140 {
			for _, atEnd := range []bool{false, true} {
				multipliers := guarded(t, oddMultipliers(random, components), atEnd)
				set := guarded(t, randomSet(random, components%5, 1<<48), atEnd)
				got := guarded(t, make([]uint32, components), atEnd)
				MinHash(got, multipliers, set)
				if want := naiveMinHash(multipliers, set); !slices.Equal(got, want) {
					t.Fatalf("MinHash with %d components = %v, want %v", components, got, want)
				}
			}
		}
	})
}

func TestRunStaysInside(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for size := range 200 {
		for _, atEnd := range []bool{false, true} {
			protected := func(text []byte) []byte { return guarded(t, text, atEnd) }
			checkRun(t, states[size%len(states)], asciiText(random, size+Lookahead, size%5), protected)
			for _, tier := range Tiers() {
				before := SelectTier(tier)
				checkWide(t, Scan{}, append(wideText(random, size, false), make([]byte, Lookahead)...), protected)
				SelectTier(before)
			}
		}
	}
}

func TestHashesStayInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(13, 14))
		h := newHash(random)
		for count := range 70 {
			for _, atEnd := range []bool{false, true} {
				size := 5*TokenBlock + random.IntN(50)
				folded := guarded(t, randomBytes(random, size+TokenBlock), atEnd)
				starts, ends := randomTokens(random, count, size)
				starts, ends = guarded(t, starts, atEnd), guarded(t, ends, atEnd)
				hashes := guarded(t, make([]uint64, count), atEnd)
				h.Tokens(hashes, folded, starts, ends, guarded(t, make([]uint16, count+8), atEnd))
				if want := wantHashes(h, folded, starts, ends); !slices.Equal(hashes, want) {
					t.Fatalf("hashes of %d tokens = %x, want %x", count, hashes, want)
				}
				if count < 2 {
					continue
				}
				elements := guarded(t, make([]uint64, count-2), atEnd)
				h.Shingles(elements, hashes, 3)
				if want := naiveShingles(h, count-2, hashes, 3); !slices.Equal(elements, want) {
					t.Fatalf("%d shingles = %x, want %x", count-2, elements, want)
				}
			}
		}
	})
}

func TestSortStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(15, 16))
		for size := range 270 {
			for _, atEnd := range []bool{false, true} {
				list := make([]uint64, size)
				for i := range list {
					list[i] = random.Uint64() & largestElement
				}
				want := naiveSet(list)
				sorter := SetSorter{scratch: guarded(t, make([]uint64, size+overwritten), atEnd)}
				if got := sorter.Sort(guarded(t, list, atEnd)); !slices.Equal(got, want) {
					t.Fatalf("set of %d elements = %x, want %x", size, got, want)
				}
			}
		}
	})
}

func TestIntersectStaysInside(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for size := range 60 {
		for _, atEnd := range []bool{false, true} {
			a, b := randomSet(random, size, 100), randomSet(random, random.IntN(40), 100)
			checkCounts(t, guarded(t, a, atEnd), guarded(t, b, atEnd))
			checkCounts(t, guarded(t, lower(a), atEnd), guarded(t, lower(b), atEnd))
		}
	}
}

func TestBitCountersStayInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(17, 18))
		for size := range 150 {
			for _, atEnd := range []bool{false, true} {
				words := guarded(t, randomWords(random, size), atEnd)
				got := (*BitCounters)(guarded(t, make([]uint64, BitPlanes), atEnd))
				var want BitCounters
				got.Add(words)
				got.AddMixed(words, 1)
				naiveCounters(&want, words)
				naiveCounters(&want, mixed(words, 1))
				if *got != want {
					t.Fatalf("counters of %d words: %x, want %x", size, *got, want)
				}
			}
		}
	})
}

func TestFilterStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(19, 20))
		for size := range 70 {
			for _, atEnd := range []bool{false, true} {
				list := guarded(t, randomElements(random, size, 1), atEnd)
				out := guarded(t, make([]uint64, size+overwritten), atEnd)
				for _, limit := range []uint64{0, 1 << (ElementBits - 1), 1 << ElementBits} {
					got, want := out[:filter(out, list, limit)], naiveFilter(list, limit)
					if !slices.Equal(got, want) {
						t.Fatalf("%d elements below %x: %x, want %x", size, limit, got, want)
					}
				}
			}
		}
	})
}

func TestCountTableStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(45, 46))
		for size := range 80 {
			for _, atEnd := range []bool{false, true} {
				set := randomSet(random, size, 1<<24)
				checkCountTable(t, 3, set, set, 2, func(packed []byte) []byte { return guarded(t, packed, atEnd) })
			}
		}
	})
}
