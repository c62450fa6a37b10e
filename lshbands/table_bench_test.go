package lshbands

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const benchmarkKeys = 10_000_000

// BenchmarkTable measures searches in ten million keys: in the table, one after
// the other and side by side, by binary search in a plain list, and of whole keys
// in a map of Go. A search is timed by itself, and the time that the clock takes
// is given by "clock"; ns/op is of searches without a clock.
func BenchmarkTable(b *testing.B) {
	for _, name := range []string{"random", "clustered"} {
		keys := keyLists[name](rand.New(rand.NewPCG(1, 10)), benchmarkKeys)
		table := newTable(b, keys)
		probes := make([]uint64, 1<<20)
		random := rand.New(rand.NewPCG(2, 10))
		for i := range probes {
			probes[i] = keys[random.IntN(len(keys))]
		}
		for _, prefixBits := range []int{24, 28, 32, 64} {
			b.Run(fmt.Sprintf("%s/%d bits/table", name, prefixBits), func(b *testing.B) {
				measureProbes(b, probes, func(key uint64) int {
					first, end := table.Range(key>>(64-prefixBits), prefixBits)
					return end - first
				})
				b.ReportMetric(float64(table.Size())/benchmarkKeys, "B/key")
			})
			b.Run(fmt.Sprintf("%s/%d bits/side by side", name, prefixBits), func(b *testing.B) {
				measureSearch(b, table, probes, prefixBits)
			})
			b.Run(fmt.Sprintf("%s/%d bits/binary search", name, prefixBits), func(b *testing.B) {
				measureProbes(b, probes, func(key uint64) int {
					return len(within(keys, key>>(64-prefixBits), prefixBits))
				})
				b.ReportMetric(8, "B/key")
			})
		}
		b.Run(name+"/64 bits/map", func(b *testing.B) {
			set := make(map[uint64]int32, len(keys))
			for _, key := range keys {
				set[key]++
			}
			measureProbes(b, probes, func(key uint64) int { return int(set[key]) })
		})
		b.Run(name+"/64 bits/clock", func(b *testing.B) {
			measureProbes(b, probes, func(key uint64) int { return int(key & 1) })
		})
	}
}

// measureProbes reports the median and the 99th percentile of single searches.
func measureProbes(b *testing.B, probes []uint64, search func(key uint64) int) {
	found, next := 0, 0
	for b.Loop() {
		found += search(probes[next%len(probes)])
		next++
	}
	const timed = 200_000
	times := make([]time.Duration, timed)
	for i := range times {
		key := probes[i]
		start := time.Now()
		found += search(key)
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[timed/2]), "median-ns")
	b.ReportMetric(float64(times[timed/100*99]), "p99-ns")
	b.ReportMetric(float64(found)/float64(next+timed), "found/op")
}

// measureSearch searches for as many probes at once as a question has keys.
func measureSearch(b *testing.B, table *Table, keys []uint64, prefixBits int) {
	var probes [24]Probe
	found, next := 0, 0
	for b.Loop() {
		if next%len(probes) == 0 {
			for i := range probes {
				key := keys[(next+i)%len(keys)]
				probes[i] = Probe{Table: table, Prefix: key >> (64 - prefixBits), PrefixBits: prefixBits}
			}
			Search(probes[:])
		}
		found += probes[next%len(probes)].End - probes[next%len(probes)].First
		next++
	}
	b.ReportMetric(float64(found)/float64(next), "found/op")
}

func BenchmarkNewTable(b *testing.B) {
	keys := keyLists["random"](rand.New(rand.NewPCG(1, 10)), 1_000_000)
	for b.Loop() {
		newTable(b, keys)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
}
