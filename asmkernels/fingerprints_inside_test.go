//go:build unix

package asmkernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMarkBitmaps makes sure that the bitmaps never hide a pair, and compares
// the tiers.
func TestMarkBitmaps(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	count := 200
	if testing.Short() {
		count = 64
	}
	fingerprints := randomFingerprints(random, count, 128)
	table := NewFingerprints[uint32](128, AsSets)
	for _, fingerprint := range fingerprints {
		table.Add(fingerprint)
	}
	for _, threshold := range []float64{0, 0.1, 0.3, 0.5, 0.8, 1, math.NaN()} {
		s := table.search(threshold)
		hidden := 0
		for i, query := range fingerprints {
			bitmap := newBitmap(query)
			if bitmap != table.bitmap(i) {
				t.Fatalf("bitmap %d differs from that added", i)
			}
			q := s.bitmapQuery(&bitmap)
			want := make([]uint8, len(table.blocks)/blockWords)
			markBitmapsGo(want, &q, table.blocks)
			for j, other := range fingerprints {
				need := Required(threshold, len(query), len(other))
				marked := want[j/8]>>(j%8)&1 != 0
				if !marked && naiveIntersect(query, other) >= need {
					t.Fatalf("%v: the bitmaps hide the pair %v, %v", threshold, query, other)
				}
				if !marked {
					hidden++
				}
			}
			onEveryTier(t, func(t *testing.T) {
				got := guarded(t, make([]uint8, len(want)), i%2 == 0)
				markBitmaps(got, &q, guarded(t, table.blocks, i%2 == 0))
				if !slices.Equal(got, want) {
					t.Errorf("marks are %x, want %x", got, want)
				}
			})
		}
		if threshold >= 0.5 && hidden < len(fingerprints)*len(fingerprints)/2 {
			t.Errorf("%v: the bitmaps hide only %d pairs", threshold, hidden)
		}
	}
}

func TestTurbo(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	for size := range 60 {
		for _, limit := range []uint64{100, 1 << 17, 1 << 32} {
			a := lower(randomSet(random, size, limit))
			b := lower(randomSet(random, random.IntN(60), limit))
			most := random.IntN(100)
			i, j, common, aborted := turboGo(a, b, most)
			onEveryTier(t, func(t *testing.T) {
				gotI, gotJ, gotCommon, gotAborted := turbo(guarded(t, a, true), guarded(t, b, true), most)
				if gotI != i || gotJ != j || gotCommon != common || gotAborted != aborted {
					t.Errorf("turbo(%v, %v, %d) = %d, %d, %d, %v, want %d, %d, %d, %v",
						a, b, most, gotI, gotJ, gotCommon, gotAborted, i, j, common, aborted)
				}
			})
		}
	}
}

func TestHammingStaysInside(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(33, 34))
		for words := 1; words <= hammingWords; words++ {
			for rows := range 20 {
				for _, atEnd := range []bool{false, true} {
					query, table := randomRows(random, words), randomRows(random, rows*words)
					got := guarded(t, make([]uint16, rows), atEnd)
					Hamming(got, guarded(t, query, atEnd), guarded(t, table, atEnd))
					if want := naiveHamming(rows, query, table); !slices.Equal(got, want) {
						t.Fatalf("distances of %d rows of %d words are %v, want %v", rows, words, got, want)
					}
				}
			}
		}
	})
}

func BenchmarkMarkBitmaps(b *testing.B) {
	random := rand.New(rand.NewPCG(25, 26))
	table := NewFingerprints[uint32](128, AsSets)
	for _, fingerprint := range randomFingerprints(random, tile, 128) {
		table.Add(fingerprint)
	}
	s, bitmap := table.search(0.5), table.bitmap(0)
	query := s.bitmapQuery(&bitmap)
	marks := make([]uint8, tile/blockLanes)
	onEveryTier(b, func(b *testing.B) {
		for b.Loop() {
			markBitmaps(marks, &query, table.blocks)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tile), "ns/bitmap")
	})
}
