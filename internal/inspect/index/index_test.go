package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/lshbands"
)

// document is a document whose set is not packed.
type document struct {
	ref    docref.Ref
	id     string
	digest digest.Digest
	set    []uint64
}

// randomDocuments returns documents. Some of them have equal sets or empty ones.
func randomDocuments(random *rand.Rand, count int) (documents []document) {
	for i := range count {
		d := document{ref: docref.Ref(10 * i), digest: digest.Digest{random.Uint64(), random.Uint64()}}
		if random.IntN(5) > 0 {
			d.id = fmt.Sprintf("document %d", i)
		}
		switch same := random.IntN(4); {
		case same == 0 && i > 0:
			other := documents[random.IntN(i)]
			d.digest, d.set = other.digest, other.set
		case same > 1:
			for range random.IntN(60) {
				d.set = append(d.set, random.Uint64()>>16)
			}
			slices.Sort(d.set)
			d.set = slices.Compact(d.set)
		}
		documents = append(documents, d)
	}
	return documents
}

func build(t testing.TB, header Header, documents []document, keysOfSegment int) []byte {
	t.Helper()
	var file bytes.Buffer
	b := newBuilder(t, header, &file)
	b.taker.(*setBuilder).segmentKeys = keysOfSegment
	for _, d := range documents {
		if err := b.Add(Document{Ref: d.ref, ID: []byte(d.id), Digest: d.digest, Set: packed(d.set)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func newBuilder(t testing.TB, header Header, file *bytes.Buffer) *Builder {
	t.Helper()
	b, err := New(header, 1, func(data []byte) error { file.Write(data); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed returns a set as sketch blocks hold it.
func packed(set []uint64) (b []byte) {
	for _, element := range set {
		b = append(b, binary.LittleEndian.AppendUint64(nil, element)[:sketchblock.HashSize]...)
	}
	return b
}

var testHeader = Header{Threshold: 0.7, StopWords: "the\n", References: 1, Files: []string{"a", "b"}}

// TestIndexHoldsAllDocuments reads everything back, from one segment and from many.
func TestIndexHoldsAllDocuments(t *testing.T) {
	for _, keysOfSegment := range []int{1, 100, 1 << 20} {
		documents := randomDocuments(rand.New(rand.NewPCG(1, 2)), 500)
		opened, err := Open(build(t, testHeader, documents, keysOfSegment))
		if err != nil {
			t.Fatal(err)
		}
		segments := opened.Segments
		if (len(segments) > 1) != (keysOfSegment < 1<<20) {
			t.Errorf("%d segments of %d keys", len(segments), keysOfSegment)
		}
		opened.Header.Segments = nil
		if !reflect.DeepEqual(opened.Header, testHeader) {
			t.Errorf("the header is %+v, want %+v", opened.Header, testHeader)
		}
		var got []document
		for _, s := range segments {
			got = append(got, checkSegment(t, s)...)
		}
		slices.SortFunc(got, func(a, b document) int { return int(a.ref) - int(b.ref) })
		if fmt.Sprint(got) != fmt.Sprint(documents) {
			t.Errorf("segments of %d keys: the documents are others", keysOfSegment)
		}
	}
}

// checkSegment returns the documents of a segment and checks its columns.
func checkSegment(t *testing.T, s *Segment) (documents []document) {
	t.Helper()
	want := map[[2]uint64]bool{} // a key and its set
	seen := map[digest.Digest]bool{}
	for set := range s.Sets {
		elements := s.AppendSet(nil, set)
		if len(elements) != s.Size(set) {
			t.Fatalf("set %d has %d elements, want %d", set, len(elements), s.Size(set))
		}
		if seen[s.Digest(set)] {
			t.Fatalf("set %d is there twice", set)
		}
		seen[s.Digest(set)] = true
		for _, key := range elements[:KeyCount(testHeader.Threshold, len(elements))] {
			want[[2]uint64{key, uint64(set)}] = true
		}
		if len(elements) == 0 {
			want[[2]uint64{DigestKey(s.Digest(set)), uint64(set)}] = true
		}
		first, end := s.DocumentsOf(set)
		for i := first; i < end; i++ {
			documents = append(documents, document{s.Ref(i), string(s.ID(i)), s.Digest(set), elements})
			if i > first && s.Ref(i) <= s.Ref(i-1) {
				t.Fatalf("document %d of a set comes before the one before", i)
			}
		}
	}
	keys := slices.Collect(s.Keys.All())
	if len(keys) != len(want) {
		t.Fatalf("%d keys, want %d", len(keys), len(want))
	}
	var before [2]uint64
	for i, key := range keys {
		posting := [2]uint64{key, uint64(s.Posting(i))}
		if !want[posting] || i > 0 && slices.Compare(posting[:], before[:]) <= 0 {
			t.Fatalf("posting %d is %x", i, posting)
		}
		before = posting
	}
	for _, sizes := range [][2]int{{0, 0}, {1, 10}, {20, 20}, {30, 1000}, {1000, 2000}} {
		first, end := s.SetsOfSize(sizes[0], sizes[1])
		for set := range s.Sets {
			if isIn := set >= first && set < end; isIn != (s.Size(set) >= sizes[0] && s.Size(set) <= sizes[1]) {
				t.Fatalf("set %d of %d elements: among those of %v: %v", set, s.Size(set), sizes, isIn)
			}
		}
	}
	return documents
}

// TestSimilarSetsShareKeys holds the guarantee of the keys. Sets whose similarity reaches the threshold share
// Common keys, or all their common elements if these are fewer.
func TestSimilarSetsShareKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tried := 0
	for range 30_000 {
		common, onlyA, onlyB := 1+random.IntN(40), random.IntN(20), random.IntN(20)
		elements := random.Perm(100)[:common+onlyA+onlyB]
		a := slices.Sorted(slices.Values(elements[:common+onlyA]))
		b := slices.Sorted(slices.Values(append(slices.Clone(elements[:common]), elements[common+onlyA:]...)))
		jaccard := float64(common) / float64(len(elements))
		// A query may ask for any threshold from the index's up to the similarity.
		threshold := jaccard * (0.3 + 0.7*random.Float64())
		asked := threshold + (jaccard-threshold)*float64(random.IntN(3))/2
		keysOfA, keysOfB := a[:KeyCount(asked, len(a))], b[:KeyCount(threshold, len(b))]
		shared := 0
		for _, key := range keysOfA {
			if slices.Contains(keysOfB, key) {
				shared++
			}
		}
		if shared < min(common, Common) {
			t.Fatalf("%v and %v share %d keys at %g and %g", a, b, shared, asked, threshold)
		}
		tried++
	}
	if tried == 0 {
		t.Fatal("nothing was tried")
	}
}

func TestOpenRefusesOtherBytes(t *testing.T) {
	good := build(t, testHeader, randomDocuments(rand.New(rand.NewPCG(5, 6)), 40), 200)
	opened, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}
	isElement := make([]bool, len(good))
	for _, s := range opened.Header.Segments {
		for i := range s.Columns[elements].Length {
			isElement[s.Columns[elements].Offset+i] = true
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := Open(bad); (err == nil) != isElement[i] {
			t.Errorf("with another byte %d, in a set: %v: %v", i, isElement[i], err)
		}
		if _, err := Open(good[:i]); err == nil {
			t.Errorf("cut to %d bytes it is opened", i)
		}
	}
}

// TestFingerprintsLeadToTheirDocuments reads everything back, from one segment and
// from many.
func TestFingerprintsLeadToTheirDocuments(t *testing.T) {
	for _, documentsOfSegment := range []int{1, 50, 1 << 20} {
		random := rand.New(rand.NewPCG(9, 9))
		var file bytes.Buffer
		header := testHeader
		header.Bits, header.Distance, header.Blocks = 64, 3, []int{6}
		b := newBuilder(t, header, &file)
		b.taker.(*fingerprintBuilder).segmentDocuments = documentsOfSegment
		var want []string
		for i := range 300 {
			key := random.Uint64N(100) << 30
			d := Document{Ref: docref.Ref(i), Digest: digest.Digest{key}}
			isEmpty := random.IntN(5) == 0
			if !isEmpty {
				d.Fingerprint = []uint64{key}
			}
			if i%3 > 0 {
				d.ID = fmt.Appendf(nil, "%d", i)
			}
			want = append(want, fmt.Sprint(d.Ref, string(d.ID), key, isEmpty))
			if err := b.Add(d); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		segments := opened.Segments
		if h := opened.Header; (len(segments) > 1) != (documentsOfSegment < 300) || h.Bits != 64 || h.Distance != 3 ||
			len(h.Blocks) != 1 {
			t.Errorf("%d segments of %d documents, header %+v", len(segments), documentsOfSegment, h)
		}
		got := make([]string, 300)
		for _, s := range segments {
			var full []uint64
			for number := range s.Fingerprints(1) {
				full = s.AppendFingerprint(full, number, 1)
			}
			digests := slices.Collect(s.Keys.All())
			if !slices.IsSorted(full) || s.Sets != len(full)+len(digests) || len(s.Permuted) != opened.Tables.Tables() {
				t.Fatalf("%d sets, %d fingerprints and %d digests in %d tables", s.Sets, len(full), len(digests),
					len(s.Permuted))
			}
			for set, key := range append(slices.Clone(full), digests...) {
				first, end := s.DocumentsOf(set)
				for i := first; i < end; i++ {
					got[s.Ref(i)] = fmt.Sprint(s.Ref(i), string(s.ID(i)), key, set >= len(full))
				}
			}
			for table, keys := range s.Permuted {
				var want []uint64
				for number, key := range full {
					prefix := opened.Tables.Prefix(table, []uint64{key})
					want = append(want, numberedKey(prefix, opened.Tables.PrefixBits(table), number))
				}
				slices.Sort(want)
				if !slices.Equal(slices.Collect(keys.All()), want) {
					t.Errorf("table %d holds other keys", table)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("segments of %d documents: the documents are others", documentsOfSegment)
		}
	}
}

func TestBuilderSaysWhatWentWrong(t *testing.T) {
	full := errors.New("disk full")
	for limit := range 14 {
		writes := 0
		b, err := New(testHeader, 1, func([]byte) error {
			if writes++; writes > limit {
				return full
			}
			return nil
		})
		if err == nil {
			err = b.Add(Document{Set: packed([]uint64{1, 2})})
		}
		if err == nil {
			err = b.Close()
		}
		if isLast := writes <= limit; !isLast && !errors.Is(err, full) || isLast && err != nil {
			t.Errorf("after %d writes: %v", limit, err)
		}
	}
	if _, err := New(Header{Bits: 64, Distance: 64}, 1, nil); err == nil {
		t.Error("fingerprints for which there are no tables")
	}
}

// FuzzOpen opens arbitrary bytes with correct checksums, and reads all that it gets.
func FuzzOpen(f *testing.F) {
	good := build(f, testHeader, randomDocuments(rand.New(rand.NewPCG(7, 8)), 20), 100)
	opened, err := Open(good)
	if err != nil {
		f.Fatal(err)
	}
	header := &opened.Header
	permuted, err := lshbands.NewPermuted(64, 3, 6)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, header.Segments[0].Sets, header.Segments[0].Documents, header.Segments[0].Keys, 0)
	f.Fuzz(func(_ *testing.T, file []byte, sets, documents, keyCount, shift int) {
		h := header.Segments[0]
		h.Sets, h.Documents, h.Keys = sets, documents, keyCount
		for i := range h.Columns {
			place := &h.Columns[i]
			place.Offset += int64(shift)
			if place.Offset >= 0 && place.Offset+place.Length <= int64(len(file)) {
				place.Sum = checksum.Of(file[place.Offset : place.Offset+place.Length])
			}
		}
		of := &File{Header: *header}
		if shift%2 != 0 {
			of.Header.Bits, of.Tables = 64, permuted
		}
		if s, err := of.openSegment(file, h); err == nil {
			for set := range s.Sets {
				s.AppendSet(nil, set)
				first, end := s.DocumentsOf(set)
				for i := first; i < end; i++ {
					s.ID(i)
				}
			}
		}
		Open(file)
	})
}
