package documents

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/findings"
)

// swapped returns two values that XXH3 takes for the same under the seed. In both of their first stripes the first word
// has the lower half of its secret, so that a product is zero. Their upper halves only count in a sum.
func swapped(t *testing.T, seed uint64) (a, b []byte) {
	secret := [2]uint64{0xbe4ba423396cfeb8 + seed, 0x1cad21f72c81017c - seed}
	for i, upper := range [2]uint64{0x21212121, 0x3f3f3f3f} {
		stripe := func(upper uint64) []byte {
			return append(binary.LittleEndian.AppendUint64(nil, upper<<32|secret[i]&(1<<32-1)),
				bytes.Repeat([]byte("?"), 56)...)
		}
		a, b = append(a, stripe(upper)...), append(b, stripe(upper^0x1e1e1e1e)...)
	}
	rest := bytes.Repeat([]byte("!"), 200)
	a, b = append(a, rest...), append(b, rest...)
	if bytes.Equal(a, b) || xxh3.HashSeed(a, seed) != xxh3.HashSeed(b, seed) {
		t.Fatalf("seed %d: the values do not collide", seed)
	}
	return a, b
}

// drawnSeeds returns the default seed and others that differ from run to run, and logs them.
func drawnSeeds(t *testing.T) []uint64 {
	seeds := []uint64{0, rand.Uint64(), rand.Uint64(), rand.Uint64()}
	t.Logf("seeds %d", seeds)
	return seeds
}

// TestCraftedFeatures: neither features of one XXH3 nor the number that is this XXH3 are the same, under any seed.
func TestCraftedFeatures(t *testing.T) {
	a, b := []byte("6x4fra57lotnc.example"), []byte("tqvqk4dvb3rxh.example")
	if xxh3.Hash(a) != xxh3.Hash(b) {
		t.Fatal("the features do not collide")
	}
	number := strconv.AppendUint(nil, xxh3.Hash(a), 10)
	for _, seed := range drawnSeeds(t) {
		s := usual()
		s.Fields, s.Options.Measure.Seed = corpus.Fields{Features: "features"}, seed
		sketcher, err := newMaking(s, Kept{})
		if err != nil {
			t.Fatal(err)
		}
		reader := corpus.FeatureReader{Field: "features"}
		set := func(value []byte, areHashes bool) []uint64 {
			features, err := reader.Values([][]byte{value}, areHashes, nil)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Clone(sketcher.maker.Make(nil, corpus.Record{Features: features}).Set)
		}
		if all := slices.Concat(set(a, false), set(b, false), set(number, true)); len(all) != 3 || all[0] == all[1] ||
			all[0] == all[2] {
			t.Errorf("seed %d: the sets of three features have the elements %x", seed, all)
		}
	}
}

// TestCraftedScopes: values of one XXH3 are two scopes, sides and sources, even if the seed is known.
func TestCraftedScopes(t *testing.T) {
	for _, seed := range drawnSeeds(t) {
		m, err := newMarker(Marking{Within: "value", Across: "value", SourceField: "value"}, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		of := func(value []byte) (hashes [3]uint64) {
			record := &Record{Content: corpus.Record{Others: [][]byte{value}}}
			hashes[0], hashes[1] = m.scopeOf(record, &findings.Counts{})
			hashes[2], _ = m.sourceOf(record)
			return hashes
		}
		a, b := swapped(t, seed)
		first, second := of(a), of(b)
		for i := range first {
			if first[i] == second[i] {
				t.Errorf("seed %d: two values have the hash %x", seed, first[i])
			}
		}
	}
}
