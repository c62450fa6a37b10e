package sketch

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func newFingerprinter(t testing.TB, o Options) *Fingerprinter {
	t.Helper()
	f, err := NewFingerprinter(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stopWordsOf makes a list of words.
func stopWordsOf(t testing.TB, words string) *StopWords {
	t.Helper()
	s, err := ReadStopWords(strings.NewReader(strings.ReplaceAll(words, " ", "\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clone copies what the next call overwrites.
func (f Fingerprint) clone() Fingerprint {
	f.Set, f.SimHash = slices.Clone(f.Set), slices.Clone(f.SimHash)
	return f
}

func sameFingerprint(a, b Fingerprint) bool {
	return slices.Equal(a.Set, b.Set) && slices.Equal(a.SimHash, b.SimHash) && a.Digest == b.Digest
}

func texts(all ...string) [][]byte {
	var out [][]byte
	for _, text := range all {
		out = append(out, []byte(text))
	}
	return out
}

const someText = "The quick brown fox jumps over the lazy dog, and the dog does not care. \xff"

// TestFingerprinterOfOneText: without options it is a Hasher.
func TestFingerprinterOfOneText(t *testing.T) {
	measure := Measure{Shingle: 3, Tokens: SingleTokens}
	f, hasher := newFingerprinter(t, Options{Measure: measure}), must(NewHasher(measure))
	for _, text := range []string{someText, "", "...", "one", "床前明月光"} {
		got, want := f.Texts(texts(text)), hasher.Document([]byte(text))
		if !slices.Equal(got.Set, want.Set) || got.Digest != want.Digest || got.Tokens != want.Tokens ||
			got.InvalidBytes != want.InvalidBytes || got.SimHash != nil {
			t.Errorf("%q: %+v, a Hasher has %+v", text, got, want)
		}
	}
}

// TestFingerprinterOfTexts: the set is the union of the texts' sets. A shingle has the total weight of the
// texts that contain it. No shingle reaches across texts.
func TestFingerprinterOfTexts(t *testing.T) {
	measure := Measure{Shingle: 2}
	f := newFingerprinter(t, Options{Measure: measure, Weights: []float64{3, 1}, SimHashBits: 128})
	got := f.Texts(texts("common words here", "more common words"))
	hasher := must(NewHasher(measure))
	weights := map[uint64]float64{}
	for _, element := range hasher.Document([]byte("common words here")).Set {
		weights[element] += 3
	}
	for _, element := range hasher.Document([]byte("more common words")).Set {
		weights[element]++
	}
	simhash := newSimHash(t, SimHashOptions{Bits: 128})
	for element, weight := range weights {
		if !slices.Contains(got.Set, element) {
			t.Errorf("element %x is missing", element)
		}
		simhash.Add(element, weight)
	}
	if len(got.Set) != len(weights) || len(weights) != 3 || !slices.IsSorted(got.Set) || got.Tokens != 6 {
		t.Errorf("%+v, want the %d elements of both", got, len(weights))
	}
	if want := simhash.Fingerprint(nil); !slices.Equal(got.SimHash, want) {
		t.Errorf("SimHash %x, want %x", got.SimHash, want)
	}
	// Texts are told apart only where there is no word.
	blank := f.Texts(texts(" ", "")).clone()
	if other := f.Texts(texts("", " ")); len(blank.Set) != 0 || blank.Digest == other.Digest {
		t.Errorf("%+v and %+v of blank texts that differ", blank, other)
	}
	if again := f.Texts(texts(" ", "")); again.Digest != blank.Digest {
		t.Errorf("digests %x and %x of the same blank texts", again.Digest, blank.Digest)
	}
}

// TestFingerprinterSteps: normalization and stop words do what each does alone. A text with nothing
// left equals only a text of the same bytes.
func TestFingerprinterSteps(t *testing.T) {
	measure := Measure{Shingle: 2}
	plain := newFingerprinter(t, Options{Measure: measure})
	words := stopWordsOf(t, "the and does not")
	remove := newFingerprinter(t, Options{
		Measure:       measure,
		StopWords:     words,
		StopWordUse:   RemoveStopWords,
		Normalization: Normalization{NFKC: true},
	})
	want := plain.Texts(texts("quick brown fox jumps over lazy dog dog care")).clone()
	if got := remove.Texts(
		texts("The ｑｕｉｃｋ brown fox jumps over the lazy dog, and the dog does not care.")); !sameFingerprint(got, want) {
		t.Errorf("without stop words %+v, want %+v", got, want)
	}
	one, other := remove.Texts(texts("the and")).clone(), remove.Texts(texts("and the"))
	if len(one.Set) != 0 || len(other.Set) != 0 || one.Digest == other.Digest {
		t.Errorf("%+v and %+v of different stop words", one, other)
	}
	require := newFingerprinter(t, Options{Measure: measure, StopWords: words, StopWordUse: RequireStopWords})
	want = plain.Texts(texts("dog and the", "the dog does not care")).clone()
	if got := require.Texts(texts("lazy dog and the dog does not care")); !slices.Equal(got.Set, want.Set) {
		t.Errorf("shingles with stop words %x, want %x", got.Set, want.Set)
	}
	if _, err := NewFingerprinter(Options{StopWords: words, StopWordUse: "hope"}); err == nil {
		t.Error("an unknown use of stop words is taken")
	}
	if _, err := NewFingerprinter(Options{SimHashBits: 65}); err == nil {
		t.Error("a SimHash of 65 bits is taken")
	}
	if _, err := NewFingerprinter(Options{Normalization: Normalization{NFC: true, NFKC: true}}); err == nil {
		t.Error("both forms are taken")
	}
}

// numbered returns a feature whose hash is a number.
func numbered(number uint64, weight float64) Feature {
	f := Feature{Weight: weight}
	binary.LittleEndian.PutUint64(f.Hash[:], number)
	return f
}

// TestFingerprinterOfFeatures: the order does not matter, and repeats add up. A document without features
// equals only a document with the same record.
func TestFingerprinterOfFeatures(t *testing.T) {
	f := newFingerprinter(t, Options{SimHashBits: 64})
	one := f.Features([]Feature{numbered(1, 1), numbered(2, 2), numbered(3, 1), numbered(1, 2)}, nil).clone()
	for _, features := range [][]Feature{
		{numbered(3, 1), numbered(1, 3), numbered(2, 2)},
		{numbered(1, 1), numbered(1, 1), numbered(1, 1), numbered(2, 1), numbered(3, 1), numbered(2, 1)},
	} {
		if other := f.Features(features, []byte("another record")); !sameFingerprint(one, other) {
			t.Errorf("%+v and %+v of the same features", one, other)
		}
	}
	if len(one.Set) != 3 || !slices.IsSorted(one.Set) || one.Set[2] >= 1<<48 {
		t.Errorf("set %x, want three elements of 48 bits", one.Set)
	}
	if heavy := f.Features([]Feature{numbered(1, 1), numbered(2, 2), numbered(3, 100)},
		nil); heavy.Digest != one.Digest || slices.Equal(heavy.SimHash, one.SimHash) {
		t.Errorf("%+v of other weights than %+v", heavy, one)
	}
	keyed := newFingerprinter(t, Options{Measure: Measure{Seed: 1}, SimHashBits: 64})
	if other := keyed.Features([]Feature{numbered(3, 1), numbered(1, 3), numbered(2, 2)}, nil); sameFingerprint(one,
		other) || len(other.Set) != 3 {
		t.Errorf("%+v with a seed, %+v without", other, one)
	}
	none := f.Features(nil, []byte("a")).clone()
	if other := f.Features(nil, []byte("b")); len(other.Set) != 0 || other.Digest == none.Digest {
		t.Errorf("%+v and %+v of different records without features", none, other)
	}
}

func TestFingerprinterDoesNotAllocate(t *testing.T) {
	both := texts(someText, strings.Repeat(someText, 20))
	features := []Feature{numbered(1, 1), numbered(2, 2)}
	f := newFingerprinter(t, Options{
		Measure:       Measure{Shingle: 3},
		Normalization: Normalization{NFC: true, Punctuation: true},
		StopWords:     stopWordsOf(t, "the a"),
		StopWordUse:   RemoveStopWords,
		Weights:       []float64{3, 1},
		SimHashBits:   256,
	})
	for name, call := range map[string]func(){
		"texts":    func() { f.Texts(both) },
		"text":     func() { f.Texts(both[:1]) },
		"features": func() { f.Features(features, nil) },
	} {
		if allocs := testing.AllocsPerRun(50, call); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// TestFingerprintGolden holds what [Version] stands for.
func TestFingerprintGolden(t *testing.T) {
	f := newFingerprinter(t, Options{
		Measure:     Measure{Shingle: 3, Tokens: SingleTokens},
		Weights:     []float64{2, 1},
		SimHashBits: 128,
	})
	got := f.Texts(texts("A title", "Some words of a text: 床前明月光."))
	if got.Digest != (Digest{0x9043e4d060d64c32, 0xed3e3391d037fde1}) ||
		!slices.Equal(got.SimHash, []uint64{0x9a3bf38f48f96ae6, 0x62b8b2adab04ac6b}) {
		t.Errorf("digest %#x, SimHash %#x of version %d", got.Digest, got.SimHash, Version)
	}
	got = f.Features([]Feature{numbered(1, 1), numbered(1<<63, 0.5), numbered(12345, 3)}, nil)
	if !slices.Equal(got.Set, []uint64{0x4dbf78a9cc50, 0x5dc5243821fa, 0x7fd48f46e2e3}) ||
		!slices.Equal(got.SimHash, []uint64{0xeeb8150cb57ff820, 0xd3392a0f6ececb6}) {
		t.Errorf("features %#x, SimHash %#x of version %d", got.Set, got.SimHash, Version)
	}
}

// TestTextsAndFeatures: the set has the shingles of the texts, and the given number of elements for each different
// feature. SimHash gives each of these the weight of the feature.
func TestTextsAndFeatures(t *testing.T) {
	texts := [][]byte{[]byte("one two three four five")}
	features := []Feature{numbered(1, 1), numbered(2, 500), numbered(1, 1)}
	of := func(o Options) *Fingerprinter {
		o.Measure, o.SimHashBits = Measure{Shingle: 3}, 64
		f, err := NewFingerprinter(o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	clone := func(f Fingerprint) Fingerprint {
		f.Set, f.SimHash = slices.Clone(f.Set), slices.Clone(f.SimHash)
		return f
	}
	plain := of(Options{})
	text, alone := clone(plain.Texts(texts)), clone(plain.Features(features, nil))
	if none := plain.TextsAndFeatures(texts, nil); !reflect.DeepEqual(none, text) {
		t.Errorf("without features %+v, want %+v", none, text)
	}
	both := clone(plain.TextsAndFeatures(texts, features))
	want := slices.Concat(text.Set, alone.Set)
	slices.Sort(want)
	if !slices.Equal(both.Set, want) || both.Digest != NewDigester(0).Set(want) || len(want) != 5 {
		t.Errorf("the set %x, want %x", both.Set, want)
	}
	if !slices.Equal(both.SimHash, alone.SimHash) { // the feature of weight 500 outweighs all else
		t.Errorf("SimHash %x, want %x", both.SimHash, alone.SimHash)
	}
	heavy := clone(of(Options{FeatureShingles: 20}).TextsAndFeatures(texts, features))
	if len(heavy.Set) != 3+2*20 || heavy.Digest == both.Digest {
		t.Errorf("%d elements, want 43", len(heavy.Set))
	}
	for _, element := range both.Set {
		if _, has := slices.BinarySearch(heavy.Set, element); !has {
			t.Errorf("%x is not in the set of heavier features", element)
		}
	}
	if empty := plain.TextsAndFeatures([][]byte{nil}, features[:1]); len(empty.Set) != 1 {
		t.Errorf("an empty text with a feature has the set %x", empty.Set)
	}
}
