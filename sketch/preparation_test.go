package sketch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pieceText returns a text of several pieces. Characters that depend on what is before or behind them are all over it,
// around spaces above all.
func pieceText(random *rand.Rand, length int) string {
	parts := []string{
		" ", "\n", " ", "a", "B", "don't", "N.B.A", "-", "\u0301", "e\u0301", "\u00ad", "\xff", "\u1100", "\u1161",
		"\u3099", "\uff76\uff9e",
		"\u4e2d\u6587", "\u0e20\u0e32\u0e29\u0e32", "\u00df", "\u03c2", "\ufdfa", "\u0345", "the", "of", "\u0430",
		"\u200b", "\u13a0", "1", "\u00a8", "\u2019",
		"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u202e", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
		"r", "n", "\u05d0", "\r", "\u2029", "\t", "\u3000",
	}
	var b strings.Builder
	for b.Len() < length {
		b.WriteString(parts[random.IntN(len(parts))])
	}
	return b.String()
}

// TestPieces: a long text is normalized in pieces, and becomes what it becomes as a whole.
func TestPieces(t *testing.T) {
	stopWords, err := ReadStopWords(strings.NewReader("the\nof\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(8, 8))
	for _, steps := range []string{
		"nfc", "nfkc,fold,punctuation", "skeleton,fold", "nfkc,skeleton,fold,punctuation",
		"punctuation",
	} {
		for _, use := range []StopWordUse{"", RemoveStopWords, RequireStopWords} {
			options := Options{Measure: Measure{Shingle: 3}, StopWordUse: use}
			if use != "" {
				options.StopWords = stopWords
			}
			if err := options.Normalization.UnmarshalText([]byte(steps)); err != nil {
				t.Fatal(err)
			}
			text := []byte(pieceText(random, 5*leastPiece))
			prepared := must(NewNormalizer(options.Normalization)).Append(nil, text)
			prepare := must(newPreparation(options))
			pieces, together := 0, []byte(nil)
			prepare.each(text, func(piece []byte) bool {
				pieces++
				together = append(together, piece...)
				return true
			})
			if use == RemoveStopWords {
				prepared = must(NewWordFilter(options.Measure, func(word []byte) bool {
					return !stopWords.Contains(word)
				})).Append(nil, prepared)
			}
			name := fmt.Sprintf("%s, %s", steps, use)
			if pieces < 3 || string(together) != string(prepared) {
				t.Errorf("%s: %d pieces, of %d bytes, and not the %d of the text as a whole", name, pieces,
					len(together), len(prepared))
			}
			if use == RequireStopWords {
				continue
			}
			got := newFingerprinter(t, options).Texts([][]byte{text})
			want := must(NewHasher(options.Measure)).Document(prepared)
			if !slices.Equal(got.Set, want.Set) || got.Digest != want.Digest || got.Tokens != want.Tokens ||
				got.InvalidBytes != want.InvalidBytes {
				t.Errorf("%s: the fingerprint of pieces has %d elements of %d tokens, that of the text %d of %d", name,
					len(got.Set), got.Tokens, len(want.Set), want.Tokens)
			}
		}
	}
}

// TestPiecesOfAnyLength: each text step gives the same for a text that is cut into pieces, whatever their length, as
// for one piece, and all pieces but the last end with white space.
func TestPiecesOfAnyLength(t *testing.T) {
	stopWords := readStopWords(t, "the\nof\n", nil)
	random := rand.New(rand.NewPCG(41, 1))
	for steps := range 1 << 5 {
		n := Normalization{
			NFC:         steps&1 > 0,
			NFKC:        steps&2 > 0,
			Skeleton:    steps&4 > 0,
			Fold:        steps&8 > 0,
			Punctuation: steps&16 > 0,
		}
		if n.NFC && n.NFKC {
			continue
		}
		for _, use := range []StopWordUse{"", RemoveStopWords} {
			options := Options{Measure: Measure{Shingle: 2}, Normalization: n}
			if use != "" {
				options.StopWords, options.StopWordUse = stopWords, use
			}
			prepare, whole := must(newPreparation(options)), must(newPreparation(options))
			for range 40 {
				text := []byte(pieceText(random, random.IntN(600)))
				prepare.least, whole.least = 1+random.IntN(60), len(text)
				var got []byte
				prepare.each(text, func(piece []byte) bool {
					got = append(got, piece...)
					return true
				})
				if want := whole.apply(text); string(got) != string(want) {
					t.Fatalf("%+v, stop words %q, pieces of %d bytes of %q:\n%q, and as one piece\n%q", n, use,
						prepare.least, text, got, want)
				}
			}
		}
	}
}

// TestOverrideOfAnyLength: what an override shows backward is one piece, however long it is.
func TestOverrideOfAnyLength(t *testing.T) {
	words := strings.Repeat("abc ", leastPiece/2)
	backward := strings.Repeat(" cba", leastPiece/2)
	f := newFingerprinter(t, Options{Measure: Measure{Shingle: 3}, Normalization: Normalization{Skeleton: true}})
	want := f.Texts([][]byte{[]byte(backward + "\nend")}).Digest
	for _, text := range []string{"\u202e" + words + "\nend", "\u202e" + words + "\u2069\nend", words + "\u202c\nend"} {
		if got := f.Texts([][]byte{[]byte(text)}).Digest; (got == want) != strings.HasPrefix(text, "\u202e") {
			t.Errorf("%.20q has the fingerprint of %.20q: %v", text, backward, got == want)
		}
	}
}

// TestPiecesAreSmall: a text that is normalized takes hardly more memory than one that is not, and a text without a
// place to cut it is charged as a whole.
func TestPiecesAreSmall(t *testing.T) {
	used := func(text string, options Options) int64 {
		options.Budget = &Budget{Limit: 1 << 30, Small: 1 << 30}
		f := newFingerprinter(t, options)
		options.Budget.Begin(int64(len(text)))
		f.Texts([][]byte{[]byte(text)})
		return options.Budget.Used()
	}
	options := Options{Normalization: Normalization{NFKC: true, Fold: true}}
	words := strings.Repeat("some words of a text ", 100_000)
	if plain, normalized := used(words, Options{}),
		used(words, options); normalized < plain || normalized > plain+4*leastPiece {
		t.Errorf("%d bytes for the text, and %d for the normalized one", plain, normalized)
	}
	if word := strings.Repeat("a", 2_000_000); used(word, options) < 3*int64(len(word)) {
		t.Errorf("%d bytes for a long word", used(word, options))
	}
}
