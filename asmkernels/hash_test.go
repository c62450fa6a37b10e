package asmkernels

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// mostTokens is the width of the shingles and runs of the hashes that tests draw.
const mostTokens = 70

func newHash(random *rand.Rand) *Hash { return NewHash(random.Uint64, mostTokens, mostTokens) }

// drawn returns numbers that differ from run to run, and logs how to have them again.
func drawn(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("drawn with rand.NewPCG(%d, 0)", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

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

// readable returns a token with a block behind its beginning.
func readable(token []byte) []byte {
	return append(slices.Clip(token), make([]byte, TokenBlock)...)[:len(token)]
}

// naiveToken is the definition of the hash of a token, in the terms of the comment of Hash.
func naiveToken(h *Hash, token []byte) uint64 {
	blocks := (max(len(token), 1) - 1) / 16
	last := append(slices.Clone(token[16*blocks:]), make([]byte, 16)...)
	words := []uint64{binary.LittleEndian.Uint64(last), binary.LittleEndian.Uint64(last[8:])}
	switch {
	case blocks == 1:
		words = append(words, binary.LittleEndian.Uint64(token), binary.LittleEndian.Uint64(token[8:]))
	case blocks > 1:
		for _, point := range h.points {
			value := new(big.Int)
			for at := range blocks {
				block := slices.Clone(token[16*at:][:16])
				slices.Reverse(block)
				rest := new(big.Int).SetBytes(block)
				for range 3 {
					value.Mul(value, new(big.Int).SetUint64(point.x))
					value.Add(value, new(big.Int).And(rest, big.NewInt(1<<43-1)))
					rest.Rsh(rest, 43)
				}
				value.Mod(value, big.NewInt(1<<61-1))
			}
			words = append(words, value.Uint64())
		}
	}
	var halves [2]uint64
	for i := range halves {
		keys := append(slices.Clone(h.short[i][:4]), h.long[i][:4]...)
		halves[i] = h.short[i][4]
		if blocks > 0 {
			halves[i] = h.long[i][4]
		}
		for k, word := range words {
			halves[i] += (keys[2*k] + word>>32) * (keys[2*k+1] + word)
		}
	}
	x := halves[0]>>32<<32 + halves[1]>>32
	return (x ^ x>>32) * 0x9e3779b97f4a7c15
}

// wantHashes hashes tokens one by one.
func wantHashes(h *Hash, folded []byte, starts, ends []uint16) []uint64 {
	var hashes []uint64
	for i := range starts {
		hashes = append(hashes, naiveToken(h, folded[starts[i]:ends[i]]))
	}
	return hashes
}

func TestHashTokens(t *testing.T) {
	random := drawn(t)
	onEveryTier(t, func(t *testing.T) {
		for count := range 70 {
			for _, size := range []int{16, 300, 1<<16 - 1} {
				h := newHash(random)
				folded := randomBytes(random, size+TokenBlock)
				starts, ends := randomTokens(random, count, size)
				got := make([]uint64, count+1)
				h.Tokens(got[:count], folded, starts, ends, make([]uint16, count+8))
				if want := append(wantHashes(h, folded, starts, ends), 0); !slices.Equal(got, want) {
					t.Fatalf("hashes of %d tokens = %x, want %x", count, got, want)
				}
			}
		}
	})
}

func FuzzHashTokens(f *testing.F) {
	f.Add(uint64(0), []byte("a token and another one"), []byte{0, 1, 2, 7, 8, 23})
	f.Add(uint64(1<<63|1), []byte("abcdefghijklmnopqrstuvwxyz0123456789"),
		[]byte{0, 16, 0, 17, 0, 32, 0, 33, 1, 9, 3, 4, 5, 6, 5, 36, 0, 36, 1, 36})
	f.Fuzz(func(t *testing.T, seed uint64, text, bounds []byte) {
		h := newHash(rand.New(rand.NewPCG(seed, 0)))
		var starts, ends []uint16
		for ; len(bounds) > 1; bounds = bounds[2:] {
			start, end := uint16(bounds[0]), uint16(bounds[1])
			if start < end && int(end) <= len(text) {
				starts, ends = append(starts, start), append(ends, end)
			}
		}
		text = append(slices.Clip(text), make([]byte, TokenBlock)...)
		want := wantHashes(h, text, starts, ends)
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			got := make([]uint64, len(starts))
			h.Tokens(got, text, starts, ends, make([]uint16, len(starts)+8))
			SelectTier(before)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: hashes of %q from %v to %v = %x, want %x", tier, text, starts, ends, got, want)
			}
		}
	})
}

// TestLongToken: the polynomial takes in a token of many blocks, in one go or in parts.
func TestLongToken(t *testing.T) {
	random := drawn(t)
	for range 300 {
		h := newHash(random)
		token := readable(randomBytes(random, 1+random.IntN(2000)))
		want := naiveToken(h, token)
		if got := h.Token(Prefix{}, token); got != want {
			t.Fatalf("hash of %x = %x, want %x", token, got, want)
		}
		cut := random.IntN(len(token) + 1)
		prefix, rest := h.Blocks(Prefix{}, token[:cut])
		if got := h.Token(prefix, readable(append(slices.Clone(rest), token[cut:]...))); got != want {
			t.Fatalf("hash of %x in two parts, of %d bytes and the rest = %x, want %x", token, cut, got, want)
		}
	}
}

// naiveShingles is the definition of Shingles.
func naiveShingles(h *Hash, count int, tokens []uint64, width int) []uint64 {
	elements := make([]uint64, count)
	for i := range elements {
		sum := h.shingle[0]
		for j := range width {
			sum += h.shingle[j+1] * tokens[i+j]
		}
		x := sum >> 16
		x ^= x >> 24
		x = x * 0xd7ed558ccd51 & (1<<48 - 1)
		elements[i] = x ^ x>>24
	}
	return elements
}

func TestShingles(t *testing.T) {
	random := drawn(t)
	onEveryTier(t, func(t *testing.T) {
		for count := range 70 {
			for _, width := range []int{1, 2, 3, 4, mostTokens} {
				h := newHash(random)
				tokens := make([]uint64, count+width-1)
				for i := range tokens {
					tokens[i] = random.Uint64() << (random.UintN(5) * 16)
				}
				got := make([]uint64, count+1)
				h.Shingles(got[:count], tokens, width)
				if want := append(naiveShingles(h, count, tokens, width), 0); !slices.Equal(got, want) {
					t.Fatalf("%d shingles of %d = %x, want %x", count, width, got, want)
				}
			}
		}
	})
}

// lowWeight calls visit with each word that differs from word at one or two bytes by small steps and single bits, as
// crafted words do.
func lowWeight(word []byte, visit func(other []byte)) {
	var changes []func(b byte) byte
	for bit := range 8 {
		changes = append(changes, func(b byte) byte { return b ^ 1<<bit })
	}
	changes = append(changes, func(b byte) byte { return b + 1 }, func(b byte) byte { return b - 1 })
	other := readable(word)
	for i := range word {
		for _, change := range changes {
			other[i] = change(word[i])
			visit(other)
			for j := i + 1; j < len(word); j++ {
				for _, second := range changes {
					other[j] = second(word[j])
					visit(other)
				}
				other[j] = word[j]
			}
		}
		other[i] = word[i]
	}
}

// TestDifferences: no word of 1 to 64 bytes collides with one that differs a little, under any of some random keys.
func TestDifferences(t *testing.T) {
	random := drawn(t)
	for length := 1; length <= 64; length++ {
		h := newHash(random)
		word := readable(randomBytes(random, length))
		want := h.Token(Prefix{}, word)
		lowWeight(word, func(other []byte) {
			if h.Token(Prefix{}, other) == want && !slices.Equal(word, other) {
				t.Errorf("%x and %x have one hash", word, other)
			}
		})
	}
}

// TestAvalanche: over random keys, each difference of one bit changes each bit of an element half of the time.
func TestAvalanche(t *testing.T) {
	random := drawn(t)
	const keys = 400
	element := func(h *Hash, word []byte) uint64 {
		var e [1]uint64
		h.Shingles(e[:], []uint64{h.Token(Prefix{}, word)}, 1)
		return e[0]
	}
	for _, length := range []int{1, 3, 8, 9, 16, 17, 30, 31, 64} {
		word := readable(randomBytes(random, length))
		for bit := range 8 * length {
			other := readable(slices.Clone(word))
			other[bit/8] ^= 1 << (bit % 8)
			var flips [ElementBits]int
			for range keys {
				h := NewHash(random.Uint64, 1, 0)
				for x := element(h, word) ^ element(h, other); x != 0; x &= x - 1 {
					flips[bits.TrailingZeros64(x)]++
				}
			}
			for to, n := range flips {
				// Seven standard deviations of keys/4 under the root.
				if d := n - keys/2; d*d > 49*keys/4 {
					t.Errorf("bit %d of %d bytes changes bit %d of the element %d of %d times", bit, length, to, n,
						keys)
				}
			}
		}
	}
}

func BenchmarkHashTokens(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(9, 10))
		const count = 1000
		h, folded := newHash(random), randomBytes(random, 6000+TokenBlock)
		hashes, long := make([]uint64, count), make([]uint16, count+8)
		for _, longest := range []int{10, 20} {
			var starts, ends []uint16
			for i := range count {
				starts, ends = append(starts, uint16(5*i)), append(ends, uint16(5*i+1+random.IntN(longest)))
			}
			b.Run(fmt.Sprintf("longest=%d", longest), func(b *testing.B) {
				for b.Loop() {
					h.Tokens(hashes, folded, starts, ends, long)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/token")
			})
		}
	})
}

func BenchmarkShingles(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		random := rand.New(rand.NewPCG(11, 12))
		h, tokens := newHash(random), make([]uint64, 1002)
		for i := range tokens {
			tokens[i] = random.Uint64()
		}
		elements := make([]uint64, 1000)
		for b.Loop() {
			h.Shingles(elements, tokens, 3)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(elements)), "ns/shingle")
	})
}
