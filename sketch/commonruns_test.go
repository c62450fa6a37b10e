package sketch

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// longestRun returns how many words in a row two texts have in common.
func longestRun(a, b []string) (longest int) {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for _, word := range a {
		for j := range b {
			row[j+1] = 0
			if b[j] == word {
				row[j+1] = before[j] + 1
				longest = max(longest, row[j+1])
			}
		}
		before, row = row, before
	}
	return longest
}

// repetitive returns up to so many words that are made to repeat themselves: drawn
// from few, or phrases, or parts of both texts, or one word with others in between.
func repetitive(random *rand.Rand, most, of int, parts [][]string) []string {
	phrases := [][]string{
		strings.Fields("to be or not to be"), strings.Fields("do be do be do"), strings.Fields("be to do"), strings.Fields("or do not"),
	}
	kind := random.IntN(4)
	var words []string
	for length := 1 + random.IntN(most); len(words) < length; {
		switch part := parts[random.IntN(len(parts))]; kind {
		case 0:
			words = append(words, randomWords(random, 1, of)...)
		case 1:
			words = append(words, phrases[random.IntN(len(phrases))]...)
		case 2:
			begin := random.IntN(len(part))
			words = append(append(words, part[begin:begin+random.IntN(len(part)-begin)]...), randomWords(random, 1+random.IntN(3), of)...)
		default:
			for range random.IntN(40) {
				words = append(words, "w0")
			}
			words = append(words, randomWords(random, 1, of)...)
		}
	}
	return words
}

// The longest span has no fewer words than two texts have in a row in common,
// however often these repeat in them.
func TestMatchLongestRun(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	long := 0
	for round := range 1500 {
		of, shingle := 2+random.IntN(29), 1+random.IntN(5)
		if round%2 == 0 {
			of = 2 + random.IntN(4)
		}
		parts := [][]string{randomWords(random, 20+random.IntN(100), of), randomWords(random, 5+random.IntN(10), of)}
		text := func() []string {
			words := repetitive(random, 300, of, parts)
			at := random.IntN(len(words))
			planted := append(append(append([]string{}, words[:at]...), parts[0][random.IntN(10):]...), words[at:]...)
			return planted[:min(len(planted), 400)]
		}
		a, b := text(), text()
		want := longestRun(a, b)
		if want < max(shingle, LeastSpan) {
			continue
		}
		if want > 50 {
			long++
		}
		o := Options{Measure: Measure{Shingle: shingle}}
		_, spans, _, _ := matchTextsBy(t, o, strings.Join(a, " "), strings.Join(b, " "))
		if len(spans) == 0 || int(spans[0].Words) < want {
			t.Fatalf("round %d, shingles of %d of %d words: spans are %v, %d words in a row are in common\n%q\n%q", round, shingle, of, spans, want, a, b)
		}
		checkMatch(t, o, strings.Join(a, " "), strings.Join(b, " "))
	}
	if long < 300 {
		t.Errorf("%d pairs have long runs in common", long)
	}
}
