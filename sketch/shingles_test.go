package sketch

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shinglesOf returns the shingles of a text, as base texts have them.
func shinglesOf(t testing.TB, o Options, text string) *Shingles {
	t.Helper()
	o.SimHashBits = 0
	s, err := NewShingles(slices.Clone(newFingerprinter(t, o).Texts(texts(text)).Set))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShinglesHas(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 1000, 1 << 15} {
		hashes := []uint64{0, 1<<elementBits - 1}
		for range n {
			hashes = append(hashes, random.Uint64()>>(64-elementBits))
		}
		hashes = hashes[:n]
		slices.Sort(hashes)
		hashes = slices.Compact(hashes)
		s, err := NewShingles(hashes)
		if err != nil || s.Len() != len(hashes) {
			t.Fatalf("%d shingles of %d: %v", s.Len(), len(hashes), err)
		}
		for i := range 2000 {
			hash := random.Uint64() >> (64 - elementBits)
			if i%2 == 0 && n > 0 {
				hash = hashes[random.IntN(len(hashes))] ^ uint64(i/2%2)
			}
			if _, want := slices.BinarySearch(hashes, hash); s.Has(hash) != want {
				t.Fatalf("%d of %d: found %v, want %v", hash, n, !want, want)
			}
		}
	}
	if _, err := NewShingles(make([]uint64, MostShingles+1)); err == nil {
		t.Error("more than the most: no error")
	}
}

// TestIgnoredShingles: what a base text has counts nowhere, and a document that has little else is only equal to
// documents of the same whole set.
func TestIgnoredShingles(t *testing.T) {
	const base = "permission is hereby granted free of charge to any person obtaining a copy of this software"
	const own = "a program that counts the words of a text and writes them in the order of their number to a file"
	o := Options{Measure: Measure{Shingle: 3}, SimHashBits: 64}
	plain := newFingerprinter(t, o)
	o.Ignored = shinglesOf(t, o, base)
	f := newFingerprinter(t, o)

	alone := plain.Texts(texts(own)).clone()
	if got := f.Texts(texts(own)); !sameFingerprint(got, alone) || got.Ignored != 0 {
		t.Errorf("without the base text: %+v, want %+v", got, alone)
	}
	both := f.Texts([][]byte{[]byte(base), []byte(own)}).clone()
	alone.Tokens = both.Tokens
	if !sameFingerprint(both, alone) || both.Ignored != o.Ignored.Len() {
		t.Errorf("in two texts: %+v, want %+v", both, alone)
	}
	joined := f.Texts(texts(base + " " + own))
	if len(joined.Set) != len(alone.Set)+2 || joined.Digest != NewDigester(0).Set(joined.Set) {
		t.Errorf("in one text %d shingles are left, want %d and the two between both", len(joined.Set), len(alone.Set))
	}
	for _, text := range []string{base, base + " and no more", strings.ToUpper(base)} {
		whole := plain.Texts(texts(text)).clone()
		got := f.Texts(texts(text))
		if len(got.Set) != 0 || got.Digest != whole.Digest || got.Ignored != o.Ignored.Len() {
			t.Errorf("%s: %d shingles are left, %d do not count, digest %x; want 0, %d, %x", text, len(got.Set),
				got.Ignored, got.Digest, o.Ignored.Len(), whole.Digest)
		}
	}
}

// TestIgnoredInSequences: a sequence has the shingles of the fingerprint, and no passage of the base text.
func TestIgnoredInSequences(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		base := strings.Join(randomWords(random, 40, 10), " ")
		text := strings.Join(randomWords(random, 60, 10), " ")
		text = text[:len(text)/2] + " " + base + " " + text[len(text)/2:]
		o := Options{Measure: Measure{Shingle: 3}}
		o.Ignored = shinglesOf(t, o, base)
		s, err := NewSequencer(o, false)
		if err != nil {
			t.Fatal(err)
		}
		want := newFingerprinter(t, o).Texts(texts(text))
		d, q := s.Sequence([]byte(text))
		if !slices.Equal(d.Set, want.Set) || d.Digest != want.Digest || d.Ignored != want.Ignored || d.Ignored == 0 {
			t.Fatalf("%d shingles and %d left out, want %d and %d", len(d.Set), d.Ignored, len(want.Set), want.Ignored)
		}
		if set := slices.Compact(slices.Sorted(slices.Values(q.Shingles))); !slices.Equal(set, d.Set) {
			t.Fatalf("the sequence has %d shingles, its document %d", len(set), len(d.Set))
		}
		if !slices.IsSorted(q.Tokens) || len(q.Tokens) != q.Len() || len(q.Starts) != q.Len() ||
			len(q.Ends) != q.Len() {
			t.Fatal("the fields of the sequence do not fit together")
		}
	}
}
