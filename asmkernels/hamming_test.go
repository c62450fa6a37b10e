package asmkernels

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveHamming counts bit by bit.
func naiveHamming(rows int, query, table []uint64) []uint16 {
	distances := make([]uint16, rows)
	for i := range distances {
		for k, word := range query {
			for bit := range 64 {
				if (word^table[i*len(query)+k])>>bit&1 != 0 {
					distances[i]++
				}
			}
		}
	}
	return distances
}

// randomRows returns n words, some without bits and some with all.
func randomRows(random *rand.Rand, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = [...]uint64{random.Uint64(), random.Uint64() & random.Uint64(), 0, ^uint64(0)}[random.IntN(4)]
	}
	return words
}

func TestHamming(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 30))
	for words := 1; words <= hammingWords+2; words++ {
		for rows := range 27 {
			query, table := randomRows(random, words), randomRows(random, rows*words+rows%3)
			want := append(naiveHamming(rows, query, table), 7, 7, 7, 7, 7, 7, 7, 7)
			onEveryTier(t, func(t *testing.T) {
				got := make([]uint16, len(want))
				for i := range got {
					got[i] = 7
				}
				Hamming(got[:rows], query, table)
				if !slices.Equal(got, want) {
					t.Errorf("distances of %d rows of %d words are %v, want %v", rows, words, got, want)
				}
			})
		}
	}
	Hamming(make([]uint16, 20), nil, nil)
	long, most := make([]uint64, 1023), make([]uint16, 9)
	Hamming(most, randomRows(random, 1023), slices.Repeat(long, 9))
	for i := range long {
		long[i] = ^uint64(0)
	}
	Hamming(most, make([]uint64, 1023), slices.Repeat(long, 9))
	if most[8] != 1023*64 {
		t.Errorf("distance %d, want %d", most[8], 1023*64)
	}
}

func TestHammingAllocatesNothing(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		if allocations := testing.AllocsPerRun(100, func() {
			var distances [16]uint16
			query, table := [3]uint64{1, 2, 3}, [48]uint64{}
			Hamming(distances[:], query[:], table[:])
			if distances[0] != 4 {
				t.Error("wrong distance")
			}
		}); allocations != 0 {
			t.Errorf("%v allocations, want none", allocations)
		}
	})
}

func FuzzHamming(f *testing.F) {
	f.Add(make([]byte, 300), 2)
	f.Add([]byte("fingerprints of some features, one after the other, and a query"), 1)
	f.Fuzz(func(t *testing.T, data []byte, words int) {
		words = words&0x1f + 1
		var list []uint64
		for ; len(data) >= 8; data = data[8:] {
			list = append(list, binary.LittleEndian.Uint64(data))
		}
		if len(list) < words {
			return
		}
		query, table := list[:words], list[words:]
		want := naiveHamming(len(table)/words, query, table)
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			got := make([]uint16, len(want))
			Hamming(got, query, table)
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: distances of %d words are %v, want %v", tier, words, got, want)
			}
		}
	})
}

func BenchmarkHamming(b *testing.B) {
	random := rand.New(rand.NewPCG(31, 32))
	for _, words := range []int{1, 2, 3, 4, 8, 16} {
		const rows = 1000
		query, table := randomRows(random, words), randomRows(random, rows*words)
		distances := make([]uint16, rows)
		b.Run(fmt.Sprint(64*words), func(b *testing.B) {
			onEveryTier(b, func(b *testing.B) {
				for b.Loop() {
					Hamming(distances, query, table)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
			})
		})
	}
}
