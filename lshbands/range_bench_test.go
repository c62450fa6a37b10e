package lshbands

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// interpolated returns the first of the sorted keys that is not below a key, by plain interpolation search: the search
// of the article on Hamming distances.
func interpolated(keys []uint64, key uint64) int {
	low, high := 0, len(keys) // all before low are below the key, none from high on
	for low < high {
		first, last := keys[low], keys[high-1]
		if key <= first {
			return low
		}
		if key > last {
			return high
		}
		upper, lower := bits.Mul64(key-first, uint64(high-1-low))
		at, _ := bits.Div64(upper, lower, last-first)
		if keys[low+int(at)] < key {
			low += int(at) + 1
		} else {
			high = low + int(at)
		}
	}
	return low
}

// BenchmarkRange compares [Table.Range] and [Search] with plain interpolation search in ten million keys, 8 bytes each.
func BenchmarkRange(b *testing.B) {
	keys := keyLists["random"](rand.New(rand.NewPCG(1, 10)), benchmarkKeys)
	table := newTable(b, keys)
	random := rand.New(rand.NewPCG(2, 10))
	probes := make([]uint64, 1<<20)
	for i := range probes {
		probes[i] = keys[random.IntN(len(keys))]
	}
	for _, prefixBits := range []int{28, 32, 64} {
		searches := map[string]func(prefix uint64) int{
			"table": func(prefix uint64) int {
				first, end := table.Range(prefix, prefixBits)
				return end - first
			},
			"interpolation": func(prefix uint64) int {
				low := prefix << (64 - prefixBits)
				first := interpolated(keys, low)
				end := first
				for end < len(keys) && keys[end]>>(64-prefixBits) == prefix {
					end++
				}
				return end - first
			},
		}
		b.Run(fmt.Sprintf("%d bits/side by side", prefixBits), func(b *testing.B) {
			measureSearch(b, table, probes, prefixBits)
		})
		for _, name := range []string{"table", "interpolation"} {
			b.Run(fmt.Sprintf("%d bits/%s", prefixBits, name), func(b *testing.B) {
				found, next := 0, 0
				for b.Loop() {
					found += searches[name](probes[next%len(probes)] >> (64 - prefixBits))
					next++
				}
				b.ReportMetric(float64(found)/float64(next), "found/op")
			})
		}
	}
}
