package lshbands

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func benchmarkSets() [][]uint64 {
	random := rand.New(rand.NewPCG(1, 2))
	sets := make([][]uint64, 40000)
	for i := range sets {
		sets[i] = make([]uint64, 100)
		for j := range sets[i] {
			sets[i][j] = random.Uint64() >> 16
		}
		slices.Sort(sets[i])
	}
	return sets
}

func BenchmarkCounterAdd(b *testing.B) {
	sets := benchmarkSets()
	for _, shingles := range []int64{4e6, 16e6, 64e6} {
		b.Run(byteCount(shingles), func(b *testing.B) {
			c := NewCounter(shingles)
			i := 0
			for b.Loop() {
				c.Add(sets[i%len(sets)])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*100), "ns/shingle")
		})
	}
}

func BenchmarkPrefixKeys(b *testing.B) {
	sets := benchmarkSets()
	for _, shingles := range []int64{4e6, 16e6, 64e6} {
		b.Run(byteCount(shingles), func(b *testing.B) {
			c := NewCounter(shingles)
			for i := range sets {
				c.Add(sets[i])
				if i%2 == 0 {
					c.Add(sets[i])
				}
			}
			p := NewPrefixKeys(c, 0.8)
			i := 0
			for b.Loop() {
				p.Of(sets[i%len(sets)])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*100), "ns/shingle")
		})
	}
}

func byteCount(n int64) string { return string(rune('0'+n/1e6/10)) + string(rune('0'+n/1e6%10)) + "M" }
