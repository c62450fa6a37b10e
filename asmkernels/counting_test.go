package asmkernels

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A place is a cell of a word.
type place struct{ word, cell uint64 }

// naiveCounts counts by the definition of a count table: how many shingles each word and each cell has.
type naiveCounts struct {
	words int
	of    map[uint64]int
	cells map[place]int
}

func newNaiveCounts(words int) *naiveCounts {
	return &naiveCounts{words, map[uint64]int{}, map[place]int{}}
}

// place returns the place of a shingle: the word is the hash as a share of all hashes, the cell what remains.
func (c *naiveCounts) place(hash uint64) place {
	share := hash % (1 << 24) * uint64(c.words)
	return place{share / (1 << 24), share % (1 << 24) * CellsPerWord / (1 << 24)}
}

func (c *naiveCounts) add(set []uint64) {
	for _, hash := range set {
		at := c.place(hash)
		c.of[at.word]++
		c.cells[at]++
	}
}

func (c *naiveCounts) frequencies(set []uint64) []byte {
	frequencies := make([]byte, len(set))
	for i, hash := range set {
		at := c.place(hash)
		if c.cells[at] > 1 {
			frequencies[i] = frequencyOf(uint32(min(c.of[at.word], math.MaxUint16)))
		}
	}
	return frequencies
}

// checkCountTable counts a set in parts, and compares the frequencies of asked with plain counting. Protected
// returns a copy of what the kernels get.
func checkCountTable(t *testing.T, words int, set, asked []uint64, parts int, protected func(packed []byte) []byte) {
	t.Helper()
	naive := newNaiveCounts(words)
	table := make(CountTable, words)
	for part := range slices.Chunk(set, max(len(set)/parts, 1)) {
		naive.add(part)
		table.Add(protected(AppendCounted(nil, part)))
	}
	got := table.AppendFrequencies([]byte{9}, protected(AppendCounted(nil, asked)))
	if want := append([]byte{9}, naive.frequencies(asked)...); !bytes.Equal(got, want) {
		t.Fatalf("%d shingles in %d words, in %d parts: frequencies %v, want %v", len(set), words, parts, got, want)
	}
}

func TestCountTable(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(41, 42))
		for size := range 100 {
			for _, words := range []int{1, 2, 7, 64, 1 << 13, 1<<17 + 1} {
				set := make([]uint64, size)
				for i := range set {
					// Some are equal, and some in one word.
					set[i] = random.Uint64() >> [...]int{0, 16, 40, 60}[random.IntN(4)]
				}
				checkCountTable(t, words, set, append(set, 0, math.MaxUint64), 1+random.IntN(5), slices.Clone[[]byte])
			}
		}
	})
}

// TestFullCounters: a counter that is full stays so, and the cells of its word are not touched.
func TestFullCounters(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		common := slices.Repeat([]uint64{5, 1 << 23}, math.MaxUint16)
		checkCountTable(t, 2, append(common, 6<<20), []uint64{5, 6, 1 << 20, 1 << 23, 6 << 20, 1<<24 - 1}, 3,
			slices.Clone[[]byte])
	})
}

// TestFrequenciesAscend: more documents never have a lower frequency, and a quarter more have a higher one.
func TestFrequenciesAscend(t *testing.T) {
	last := frequencyOf(0)
	for n := uint32(1); n < 1<<31; n += 1 + n/16 {
		if f := frequencyOf(n); f < last || f > MaxFrequency ||
			float64(n) >= 1.3*float64(n-n/17) && f == last && n > 8 {
			t.Fatalf("frequency %d of %d documents after %d", f, n, last)
		} else {
			last = f
		}
	}
}

func TestCountTableAllocatesNothing(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		table, packed, frequencies := make(CountTable, 9), make([]byte, 300), make([]byte, 0, 100)
		if allocations := testing.AllocsPerRun(100, func() {
			table.Add(packed)
			table.AppendFrequencies(frequencies, packed)
		}); allocations != 0 {
			t.Errorf("%v allocations, want none", allocations)
		}
	})
}

func FuzzCountTable(f *testing.F) {
	f.Add(bytes.Repeat([]byte("shingles of some documents"), 9), 3)
	f.Add([]byte{1, 2, 3, 1, 2}, 1)
	f.Fuzz(func(t *testing.T, packed []byte, words int) {
		words = words&0xfff + 1
		set := make([]uint64, len(packed)/CountedSize)
		for i := range set {
			b := packed[CountedSize*i:]
			set[i] = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
		}
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			checkCountTable(t, words, set, set, 2, slices.Clone[[]byte])
			SelectTier(before)
		}
	})
}

// benchmarkCounts runs do over packed shingles, with tables of several sizes.
func benchmarkCounts(b *testing.B, do func(t CountTable, packed []byte)) {
	random := rand.New(rand.NewPCG(43, 44))
	const shingles = 1 << 19
	packed := make([]byte, CountedSize*shingles)
	for i := range packed {
		packed[i] = byte(random.Uint32())
	}
	for _, words := range []int{1 << 14, 1 << 16, 1 << 18} {
		b.Run(fmt.Sprintf("%dKiB", words>>7), func(b *testing.B) {
			onEveryTier(b, func(b *testing.B) {
				table := make(CountTable, words)
				for b.Loop() {
					do(table, packed)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*shingles), "ns/shingle")
			})
		})
	}
}

func BenchmarkCountTable(b *testing.B) { benchmarkCounts(b, CountTable.Add) }

func BenchmarkFrequencies(b *testing.B) {
	var frequencies []byte
	benchmarkCounts(b, func(t CountTable, packed []byte) { frequencies = t.AppendFrequencies(frequencies[:0], packed) })
}
