package index

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// TestNumberedKeys: a key begins with the prefix, if there is room, and ends with the number.
func TestNumberedKeys(t *testing.T) {
	for _, c := range []struct {
		prefix     uint64
		prefixBits int
		shortened  uint64
		bits       int
	}{
		{0, 0, 0, 0},
		{1, 1, 1, 1},
		{1<<44 - 1, 44, 1<<44 - 1, 44},
		{1<<45 - 2, 45, 1<<44 - 1, 44},
		{0xabc << 52, 64, 0xabc << 32, 44},
		{0xabc << 52, 200, 0xabc << 32, 44}, // a hash
	} {
		for _, number := range []int{0, 7, 1<<numberBits - 1} {
			key := numberedKey(c.prefix, c.prefixBits, number)
			prefix, bits := KeyPrefix(c.prefix, c.prefixBits)
			if prefix != c.shortened || bits != c.bits || key>>(64-bits) != prefix || NumberOf(key) != number {
				t.Errorf("prefix %x of %d bits, number %d: key %x, prefix %x of %d bits", c.prefix, c.prefixBits,
					number, key, prefix, bits)
			}
		}
	}
	if segmentDocuments > 1<<numberBits {
		t.Error("a segment has more fingerprints than there are numbers")
	}
}

// TestNumberedFingerprints: fingerprints of three words are found by the numbers in the tables, and lead to their
// documents. No byte of the file may change.
func TestNumberedFingerprints(t *testing.T) {
	const length = 3
	random := rand.New(rand.NewPCG(3, 1))
	var file bytes.Buffer
	header := testHeader
	header.Bits, header.Distance = 64*length, 2
	b := newBuilder(t, header, &file)
	var given [][]uint64
	for i := range 100 {
		d := Document{Ref: docref.Ref(i), Digest: digest.Digest{77}}
		if i%9 > 0 {
			d.Fingerprint = []uint64{random.Uint64N(4), 1 << 63, random.Uint64N(4)}
		}
		given = append(given, slices.Clone(d.Fingerprint))
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
		clear(d.Fingerprint) // it is the caller's
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(file.Bytes())
	if err != nil || len(opened.Segments) != 1 {
		t.Fatalf("%+v, %v", opened, err)
	}
	s, seen := opened.Segments[0], 0
	digests := slices.Collect(s.Keys.All())
	if n := s.Fingerprints(length); n+len(digests) != s.Sets || !slices.Equal(digests, []uint64{77}) {
		t.Errorf("%d fingerprints and the digests %v in %d sets", n, digests, s.Sets)
	}
	for key := range s.Permuted[len(s.Permuted)-1].All() {
		fingerprint := s.AppendFingerprint(nil, NumberOf(key), length)
		for first, end := s.DocumentsOf(NumberOf(key)); first < end; first++ {
			if document := int(s.Ref(first)); !slices.Equal(fingerprint, given[document]) {
				t.Errorf("document %d: %x, want %x", document, fingerprint, given[document])
			}
			seen++
		}
	}
	if seen != 88 {
		t.Errorf("%d documents, want 88", seen)
	}
	for i := range file.Len() - footerSize {
		bad := bytes.Clone(file.Bytes())
		bad[i] ^= 1
		if _, err := Open(bad); err == nil {
			t.Fatalf("with another byte %d it is opened", i)
		}
	}
}
