package asmkernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTokens returns the bounds of count tokens in a text of size bytes, one
// in every few of them longer than a block.
func randomTokens(random *rand.Rand, count, size int) (starts, ends []uint16) {
	for range count {
		length := 1 + random.IntN(TokenBlock)
		if random.IntN(6) == 0 {
			length = 1 + random.IntN(5*TokenBlock)
		}
		length = min(length, size)
		start := random.IntN(size - length + 1)
		starts, ends = append(starts, uint16(start)), append(ends, uint16(start+length))
	}
	return starts, ends
}

// randomBytes returns size bytes without zeros.
func randomBytes(random *rand.Rand, size int) []byte {
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(1 + random.IntN(255))
	}
	return text
}

// wantHashes hashes tokens one by one.
func wantHashes(seed uint64, folded []byte, starts, ends []uint16) []uint64 {
	var hashes []uint64
	for i := range starts {
		hashes = append(hashes, HashToken(seed, folded[starts[i]:ends[i]]))
	}
	return hashes
}

func TestHashTokens(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(5, 6))
		for count := range 70 {
			for _, size := range []int{16, 300, 1<<16 - 1} {
				folded := randomBytes(random, size+TokenBlock)
				starts, ends := randomTokens(random, count, size)
				got, seed := make([]uint64, count+1), random.Uint64()*uint64(count%2)
				HashTokens(got[:count], seed, folded, starts, ends, make([]uint16, count+8))
				if want := append(wantHashes(seed, folded, starts, ends), 0); !slices.Equal(got, want) {
					t.Fatalf("hashes of %d tokens = %x, want %x", count, got, want)
				}
			}
		}
	})
}

func FuzzHashTokens(f *testing.F) {
	f.Add(uint64(0), []byte("a token and another one"), []byte{0, 1, 2, 7, 8, 23})
	f.Add(uint64(1<<63|1), []byte("abcdefghijklmnopqrstuvwxyz0123456789"), []byte{0, 16, 0, 17, 0, 32, 0, 33, 1, 9, 3, 4, 5, 6, 5, 36, 0, 36, 1, 36})
	f.Fuzz(func(t *testing.T, seed uint64, text, bounds []byte) {
		var starts, ends []uint16
		for ; len(bounds) > 1; bounds = bounds[2:] {
			start, end := uint16(bounds[0]), uint16(bounds[1])
			if start < end && int(end) <= len(text) {
				starts, ends = append(starts, start), append(ends, end)
			}
		}
		text = append(slices.Clip(text), make([]byte, TokenBlock)...)
		want := wantHashes(seed, text, starts, ends)
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			got := make([]uint64, len(starts))
			HashTokens(got, seed, text, starts, ends, make([]uint16, len(starts)+8))
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: hashes of %q from %v to %v = %x, want %x", tier, text, starts, ends, got, want)
			}
		}
	})
}

// naiveShingles is the definition of Shingles.
func naiveShingles(count int, tokens []uint64, width int) []uint64 {
	elements := make([]uint64, count)
	for i := range elements {
		var sum uint64
		for j := range width {
			by := 21 * j % 64
			sum += tokens[i+j]<<by | tokens[i+j]>>(64-by)
		}
		sum ^= sum >> 32
		sum *= shingleFactor
		sum ^= sum >> 32
		elements[i] = sum >> 16
	}
	return elements
}

func TestShingles(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 8))
		for count := range 70 {
			for _, width := range []int{1, 2, 3, 4, 70} {
				tokens := make([]uint64, count+width-1)
				for i := range tokens {
					tokens[i] = random.Uint64() << (random.UintN(5) * 16)
				}
				got := make([]uint64, count+1)
				Shingles(got[:count], tokens, width)
				if want := append(naiveShingles(count, tokens, width), 0); !slices.Equal(got, want) {
					t.Fatalf("%d shingles of %d = %x, want %x", count, width, got, want)
				}
			}
		}
	})
}

func BenchmarkHashTokens(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(9, 10))
		const count = 1000
		folded := randomBytes(random, 6000+TokenBlock)
		hashes, long := make([]uint64, count), make([]uint16, count+8)
		for _, longest := range []int{10, 20} {
			var starts, ends []uint16
			for i := range count {
				starts, ends = append(starts, uint16(5*i)), append(ends, uint16(5*i+1+random.IntN(longest)))
			}
			b.Run(fmt.Sprintf("longest=%d", longest), func(b *testing.B) {
				for b.Loop() {
					HashTokens(hashes, 0, folded, starts, ends, long)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/token")
			})
		}
	})
}

func BenchmarkShingles(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(11, 12))
		tokens := make([]uint64, 1002)
		for i := range tokens {
			tokens[i] = random.Uint64()
		}
		elements := make([]uint64, 1000)
		for b.Loop() {
			Shingles(elements, tokens, 3)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(elements)), "ns/shingle")
	})
}
