package sketch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// identifier returns an Identifier of the usual measure.
func identifier(t testing.TB, identity Identity, o Options) *Identifier {
	t.Helper()
	i, err := NewIdentifier(o, identity)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestIdentity: documents have the same identity exactly if they are the same by a slow rule.
func TestIdentity(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	o := Options{Measure: Measure{Shingle: 3, Tokens: SingleTokens, Seed: 5}}
	ofBytes, ofWords := identifier(t, SameBytes, o), identifier(t, SameWords, o)
	pieces := []string{
		"a", "A", "b", " ", ".", "\xff", "漢", "é", "É", "ab", strings.Repeat("long", 5000),
		strings.Repeat(" x", 40_000),
	}
	byBytes, byWords := map[string]Identified{}, map[string]Identified{}
	for n := range 5000 {
		texts := make([][]byte, 1+random.IntN(2))
		for i := range texts {
			for range random.IntN(4) {
				texts[i] = append(texts[i], pieces[random.IntN(len(pieces)-2*min(n%50, 1))]...)
			}
		}
		key := fmt.Sprintf("%q", texts)
		got := ofBytes.Texts(texts)
		for other, d := range map[string]Identified{key: got} {
			if before, known := byBytes[other]; known && before != d {
				t.Fatalf("%.100s: %+v, then %+v", key, before, d)
			}
			byBytes[other] = d
		}
		words, tokens := "", 0
		for _, text := range texts {
			of, _ := referenceTokens(text, Measure{Tokens: SingleTokens})
			words, tokens = words+fmt.Sprintf("%q", of), tokens+len(of)
		}
		if tokens == 0 {
			words = key
		}
		got = ofWords.Texts(texts)
		if got.IsEmpty != (tokens == 0) || got.IsValid != utf8.Valid(bytes.Join(texts, []byte("|"))) {
			t.Fatalf("%.100s: %+v", key, got)
		}
		got.IsValid = true
		if before, known := byWords[words]; known && before != got {
			t.Fatalf("%.100s: %+v, then %+v", key, before, got)
		}
		byWords[words] = got
	}
	for about, all := range map[string]map[string]Identified{"bytes": byBytes, "words": byWords} {
		digests := map[Digest]bool{}
		for _, d := range all {
			digests[d.Digest] = true
		}
		if len(all) < 100 || len(digests) != len(all) {
			t.Errorf("%s: %d documents have %d digests", about, len(all), len(digests))
		}
	}
}

// TestIdentityHeedsOptions: what changes words changes which texts have the same words; the seed changes all hashes.
func TestIdentityHeedsOptions(t *testing.T) {
	usual := Options{Measure: Measure{Shingle: 3}}
	same := func(o Options, a, b string) bool {
		i := identifier(t, SameWords, o)
		return i.Texts([][]byte{[]byte(a)}) == i.Texts([][]byte{[]byte(b)})
	}
	words, err := ReadStopWords(strings.NewReader("the"), nil)
	if err != nil {
		t.Fatal(err)
	}
	folded, removed, split := usual, usual, usual
	folded.Normalization.Fold = true
	removed.StopWords, removed.StopWordUse = words, RemoveStopWords
	split.Measure.Tokens = SingleTokens
	for _, c := range []struct {
		a, b    string
		options Options
	}{{"straße", "STRASSE", folded}, {"the end", "end", removed}, {"漢字", "漢 字", split}} {
		if same(usual, c.a, c.b) || !same(c.options, c.a, c.b) {
			t.Errorf("%s and %s: %v, then %v", c.a, c.b, same(usual, c.a, c.b), same(c.options, c.a, c.b))
		}
	}
	keyed := usual
	keyed.Measure.Seed = 7
	for _, identity := range []Identity{SameBytes, SameWords} {
		text := [][]byte{[]byte("some words")}
		if identifier(t, identity, usual).Texts(text) == identifier(t, identity, keyed).Texts(text) {
			t.Errorf("%s: the seed changes nothing", identity)
		}
	}
	required := removed
	required.StopWordUse = RequireStopWords
	if _, err := NewIdentifier(required, SameWords); err == nil {
		t.Error("shingles that require a stop word are taken")
	}
	if _, err := NewIdentifier(usual, "looks"); err == nil {
		t.Error("an unknown identity is taken")
	}
}
