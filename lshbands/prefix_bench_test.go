package lshbands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func benchmarkSets() [][]uint64 {
	random := rand.New(rand.NewPCG(1, 2))
	sets := make([][]uint64, 4000)
	for i := range sets {
		sets[i] = make([]uint64, 100)
		for j := range sets[i] {
			sets[i][j] = random.Uint64() >> 16
		}
		slices.Sort(sets[i])
	}
	return sets
}

// benchmarkCounts runs do over the shingles of sets, with counters of several sizes.
func benchmarkCounts(b *testing.B, do func(c *Counter, set []uint64)) {
	sets := benchmarkSets()
	for _, shingles := range []int{1 << 18, 1 << 19, 1 << 20, 1 << 22} {
		b.Run(fmt.Sprintf("%dK", shingles>>10), func(b *testing.B) {
			c := NewCounter(shingles)
			i := 0
			for b.Loop() {
				do(c, sets[i%len(sets)])
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*100), "ns/shingle")
		})
	}
}

func BenchmarkCounterAdd(b *testing.B) { benchmarkCounts(b, (*Counter).Add) }

func BenchmarkFrequencies(b *testing.B) {
	var frequencies []byte
	benchmarkCounts(b, func(c *Counter, set []uint64) { frequencies = c.AppendFrequencies(frequencies[:0], set) })
}

func BenchmarkPrefixKeys(b *testing.B) {
	sets := benchmarkSets()
	frequencies := make([]byte, 100)
	for i := range frequencies {
		frequencies[i] = byte(i * 7 % 100)
	}
	p := must(NewPrefixKeys(0.8))
	i := 0
	for b.Loop() {
		p.Of(sets[i%len(sets)], frequencies)
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*100), "ns/shingle")
}
