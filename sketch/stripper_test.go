package sketch

import (
	"slices"
	"testing"
)

// TestStripper: what a Stripper leaves of a whole set is what a Fingerprinter finds that never counts the shingles.
func TestStripper(t *testing.T) {
	const base = "permission is hereby granted free of charge to any person obtaining a copy of this software"
	const own = "a program that counts the words of a text and writes them in the order of their number to a file"
	o := Options{Measure: Measure{Shingle: 3}, SimHashBits: 128}
	plain := newFingerprinter(t, o)
	o.Ignored = shinglesOf(t, o, base)
	f := newFingerprinter(t, o)
	s, err := NewStripper(o.Ignored, o.SimHashBits)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{own, base + " " + own, base, base + " and no more", "a few words", ""} {
		want := f.Texts(texts(text)).clone()
		rest, simhash := s.Strip(plain.Texts(texts(text)).Set)
		if !slices.Equal(rest, want.Set) || !slices.Equal(simhash, want.SimHash) {
			t.Errorf("%q: %d shingles and %x are left, want %d and %x", text, len(rest), simhash, len(want.Set),
				want.SimHash)
		}
	}
	if _, err := NewStripper(o.Ignored, 65); err == nil {
		t.Error("65 bits: no error")
	}
}
