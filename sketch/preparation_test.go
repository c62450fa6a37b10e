package sketch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pieceText returns a text of several pieces. Characters that depend on what is before or behind them are all over it, around
// spaces above all.
func pieceText(random *rand.Rand, length int) string {
	parts := []string{
		" ", "\n", " ", "a", "B", "don't", "N.B.A", "-", "\u0301", "e\u0301", "\u00ad", "\xff", "\u1100", "\u1161", "\u3099", "\uff76\uff9e",
		"\u4e2d\u6587", "\u0e20\u0e32\u0e29\u0e32", "\u00df", "\u03c2", "\ufdfa", "\u0345", "the", "of", "\u0430", "\u200b", "\u13a0", "1", "\u00a8", "\u2019",
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
	for _, steps := range []string{"nfc", "nfkc,fold,punctuation", "skeleton,fold", "nfkc,skeleton,fold,punctuation", "punctuation"} {
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
				prepared = must(NewWordFilter(options.Measure, func(word []byte) bool { return !stopWords.Contains(word) })).Append(nil, prepared)
			}
			name := fmt.Sprintf("%s, %s", steps, use)
			if pieces < 3 || string(together) != string(prepared) {
				t.Errorf("%s: %d pieces, of %d bytes, and not the %d of the text as a whole", name, pieces, len(together), len(prepared))
			}
			if use == RequireStopWords {
				continue
			}
			got, want := newFingerprinter(t, options).Texts([][]byte{text}), must(NewHasher(options.Measure)).Document(prepared)
			if !slices.Equal(got.Set, want.Set) || got.Digest != want.Digest || got.Tokens != want.Tokens || got.InvalidBytes != want.InvalidBytes {
				t.Errorf("%s: the fingerprint of pieces has %d elements of %d tokens, that of the text %d of %d", name, len(got.Set), got.Tokens, len(want.Set), want.Tokens)
			}
		}
	}
}

// TestPiecesAreSmall: a text that is normalized takes hardly more memory than one that is not, and a text without a place to cut it is
// charged as a whole.
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
	if plain, normalized := used(words, Options{}), used(words, options); normalized < plain || normalized > plain+4*leastPiece {
		t.Errorf("%d bytes for the text, and %d for the normalized one", plain, normalized)
	}
	if word := strings.Repeat("a", 2_000_000); used(word, options) < 3*int64(len(word)) {
		t.Errorf("%d bytes for a long word", used(word, options))
	}
}
