package lshbands

import (
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
