package sketch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// drawnSeeds returns the default seed and others that differ from run to run, and logs them.
func drawnSeeds(t *testing.T) []uint64 {
	seeds := []uint64{0}
	for range 9 {
		seeds = append(seeds, rand.Uint64())
	}
	t.Logf("seeds %d", seeds)
	return seeds
}

// craftedPair returns two texts that share no word. Their words differ at bytes 7, 11 and 15 so that a hash of three
// 64-bit products had them collide one time in four, under every seed.
func craftedPair(random *rand.Rand, step byte) (a, b []byte) {
	letters := func(n int) []byte {
		word := make([]byte, n)
		for i := range word {
			word[i] = byte('b' + random.IntN(24))
		}
		return word
	}
	first := letters(7)
	for range 120 {
		last := letters(8)
		a = append(append(append(append(a, first...), '0'), last...), ' ')
		last[7]--
		last[3] -= step
		b = append(append(append(append(b, first...), 'm'), last...), ' ')
	}
	return a, b
}

// TestCraftedWords: texts without a common word have no common shingle, whoever made their words.
func TestCraftedWords(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var pairs [][2][]byte
	for i := range 40 {
		a, b := craftedPair(random, byte(1-2*(i%2)))
		pairs = append(pairs, [2][]byte{a, b})
	}
	for _, seed := range drawnSeeds(t) {
		for _, shingle := range []int{1, 3} {
			h := must(NewHasher(Measure{Shingle: shingle, Seed: seed}))
			for i, pair := range pairs {
				a := slices.Clone(h.Document(pair[0]).Set)
				b := h.Document(pair[1]).Set
				if i := slices.IndexFunc(a, func(e uint64) bool { return slices.Contains(b, e) }); i >= 0 {
					t.Errorf("seed %d: two different shingles of %d words have the hash %x", seed, shingle, a[i])
				}
				if len(a) < 100 || len(b) < 100 {
					t.Errorf("pair %d has %d and %d shingles", i, len(a), len(b))
				}
			}
		}
	}
}

// swapped returns two texts that XXH3 takes for the same under the seed, whatever follows. In both of their first
// stripes the first word has the lower half of its secret, so that a product is zero. Their upper halves only count in
// a sum.
func swapped(seed uint64) (a, b []byte) {
	secret := [2]uint64{0xbe4ba423396cfeb8 + seed, 0x1cad21f72c81017c - seed}
	for i, upper := range [2]uint64{0x21212121, 0x3f3f3f3f} {
		stripe := func(upper uint64) []byte {
			return append(binary.LittleEndian.AppendUint64(nil, upper<<32|secret[i]&(1<<32-1)),
				bytes.Repeat([]byte("?"), 56)...)
		}
		a, b = append(a, stripe(upper)...), append(b, stripe(upper^0x1e1e1e1e)...)
	}
	rest := bytes.Repeat([]byte("!"), 200)
	return append(a, rest...), append(b, rest...)
}

// TestCraftedBytes: neither texts without words nor the same bytes rest on XXH3.
func TestCraftedBytes(t *testing.T) {
	for _, seed := range drawnSeeds(t) {
		a, b := swapped(seed)
		if bytes.Equal(a, b) || xxh3.Hash128Seed(a, seed) != xxh3.Hash128Seed(b, seed) ||
			xxh3.HashSeed(a, seed) != xxh3.HashSeed(b, seed) {
			t.Fatalf("seed %d: the texts do not collide", seed)
		}
		d := NewDigester(seed)
		if d.Texts(a) == d.Texts(b) {
			t.Errorf("seed %d: two texts have one digest", seed)
		}
		i := identifier(t, SameBytes, Options{Measure: Measure{Seed: seed}})
		if one := i.Texts([][]byte{a}); one == i.Texts([][]byte{b}) {
			t.Errorf("seed %d: two texts have the same bytes", seed)
		}
	}
}

// TestDigestsAreKeyed: each digest, and both of its words, change with the seed. One text is not two, however it reads.
func TestDigestsAreKeyed(t *testing.T) {
	seen := map[uint64]string{}
	see := func(name string, d Digest) {
		for i, word := range d {
			if other, known := seen[word]; known || word == 0 {
				t.Errorf("word %d of %s is that of %s", i, name, other)
			}
			seen[word] = name
		}
	}
	for _, seed := range drawnSeeds(t) {
		d := NewDigester(seed)
		see("no text", d.Texts())
		see("a text", d.Texts([]byte("?!")))
		see("two texts", d.Texts([]byte("?"), []byte("!")))
		see("two texts with another border", d.Texts([]byte("?!"), nil))
		see("two texts in one", d.Texts([]byte("?\x01\x00\x00\x00\x00\x00\x00\x00!")))
		see("a set", d.Set([]uint64{1, 2, 3}))
		see("a set with another element", d.Set([]uint64{1, 2, 4}))
		see("the same bytes",
			identifier(t, SameBytes, Options{Measure: Measure{Seed: seed}}).Texts([][]byte{[]byte("?!")}).Digest)
		see("no words",
			identifier(t, SameWords, Options{Measure: Measure{Seed: seed}}).Texts([][]byte{[]byte("?!")}).Digest)
		see("words",
			identifier(t, SameWords, Options{Measure: Measure{Seed: seed}}).Texts([][]byte{[]byte("a b")}).Digest)
		see("words in one",
			identifier(t, SameWords, Options{Measure: Measure{Seed: seed}}).Texts([][]byte{[]byte("ab")}).Digest)
	}
}

// TestCraftedFeatures: features that differ in one bit share no element, and neither do their parts.
func TestCraftedFeatures(t *testing.T) {
	const parts = 3
	features := make([]Feature, 129)
	for i := range features {
		features[i].Weight = 1
		if i < 128 {
			features[i].Hash[i/8] = 1 << (i % 8)
		}
	}
	for _, seed := range drawnSeeds(t) {
		f := newFingerprinter(t, Options{Measure: Measure{Shingle: 3, Seed: seed}, FeatureShingles: parts})
		if got := f.TextsAndFeatures(nil, features); len(got.Set) != parts*len(features) {
			t.Errorf("seed %d: %d parts of features have %d elements", seed, parts*len(features), len(got.Set))
		}
	}
}
