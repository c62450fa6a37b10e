package variants

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"mirrorbeam.dev/internal/records/paged"
)

// TestCompare: what is exchanged makes one text of the other, and all else is equal.
func TestCompare(t *testing.T) {
	random, d := rand.New(rand.NewPCG(1, 2)), differ{}
	for range 2000 {
		a, b := make([]word, random.IntN(12)), make([]word, random.IntN(12))
		for _, text := range [][]word{a, b} {
			for i := range text {
				text[i] = word(random.IntN(3))
			}
		}
		var made []word
		last, edits := int32(0), 0
		for _, h := range d.compare(nil, a, b) {
			made = append(append(made, a[last:h.from[0]]...), b[h.from[1]:h.to[1]]...)
			last, edits = h.to[0], edits+int(h.to[0]-h.from[0]+h.to[1]-h.from[1])
		}
		if made = append(made, a[last:]...); !slices.Equal(made, b) {
			t.Fatalf("%v becomes %v, want %v", a, made, b)
		}
		if least := len(a) + len(b) - 2*common(a, b); edits != least {
			t.Fatalf("%v to %v: %d words, want %d", a, b, edits, least)
		}
	}
}

// common returns the length of the longest common subsequence.
func common(a, b []word) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		corner := 0
		for j, other := range b {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if w == other {
				row[j+1] = corner + 1
			}
			corner = above
		}
	}
	return row[len(b)]
}

// TestJudge: variants exchange names, versions change a word here and there, copies a few at an end.
func TestJudge(t *testing.T) {
	form := "This package has the %s of %[2]s, a library that reads and writes files. " +
		"%[2]s needs nothing else. See %[3]s"
	texts := []string{
		fmt.Sprintf(form, "headers", "alpha", "there"),
		fmt.Sprintf(form, "headers", "beta", "there"),
		fmt.Sprintf(form, "headers", "alpha", "elsewhere"),
		fmt.Sprintf(form, "headers", "alpha", "version 1"),
		fmt.Sprintf(form, "headers", "alpha", "version 2"),
		fmt.Sprintf(form, "manuals", "alpha", "there"),
		fmt.Sprintf(form, "examples", "alpha", "there"),
	}
	for _, test := range []struct {
		name       string
		pairs      [][2]int
		keep, wide []int
	}{
		{"names at two places", [][2]int{{1, 0}}, []int{0}, []int{0}},
		{"one word at one place", [][2]int{{2, 0}}, nil, []int{0}},
		{"numbers", [][2]int{{4, 3}}, nil, nil},
		{"a third word at that place", [][2]int{{0, 5}, {6, 0}}, []int{0, 1}, []int{0, 1}},
		{"the third one in the middle", [][2]int{{0, 5}, {5, 6}}, []int{0, 1}, []int{0, 1}},
		{"the same document", [][2]int{{0, 0}}, nil, nil},
		{"none", nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for rule, want := range map[Rule][]int{Keep: test.keep, Wide: test.wide} {
				if got := judged(rule, texts, test.pairs); !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", rule, got, want)
				}
			}
		})
	}
}

// judged returns the pairs of variants among pairs of texts.
func judged(rule Rule, texts []string, pairs [][2]int) (are []int) {
	p := Pairs{
		Rule:      rule,
		Store:     &paged.Store{},
		Documents: len(texts),
		Words:     func(i int) string { return string(AppendWords(nil, []byte(texts[i]))) },
		Len:       len(pairs),
		At:        func(i int) (a, b int) { return pairs[i][0], pairs[i][1] },
	}
	p.Judge(func(pair int) { are = append(are, pair) })
	slices.Sort(are)
	return are
}

// TestNeighbours: more neighbours than are compared at a time are judged as few are.
func TestNeighbours(t *testing.T) {
	const n = 2*mostAtOnce + 1
	texts, pairs := make([]string, n+1), make([][2]int, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("a text of one form, about the word%d and not much else that is worth a word", i)
		if i < n {
			pairs[i] = [2]int{n, i}
		}
	}
	if got := judged(Keep, texts, pairs); len(got) < n-n/100 { // words may share a slot
		t.Errorf("%d of %d pairs are variants", len(got), n)
	}
}

// FuzzAppendWords: the words of a text are as in lower case, whatever separates them, and few enough.
func FuzzAppendWords(f *testing.F) {
	for _, text := range []string{"", "One two_3, 4!", "\xff\xfe", "ÄÖ 漢字 e\u0301", strings.Repeat("a ", 3*mostWords)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := AppendWords(nil, []byte(text))
		if len(words)%wordBytes != 0 || len(words) > mostWords*wordBytes {
			t.Fatalf("%d bytes of words", len(words))
		}
		list := strings.FieldsFunc(text[:min(len(text), MostBytes)], func(r rune) bool {
			return !unicode.In(unicode.ToLower(r), unicode.L, unicode.N, unicode.M) && r != '_'
		})
		list = list[:min(len(list), mostWords)]
		if n := len(words) / wordBytes; n != len(list) {
			t.Fatalf("%d words, want %d: %q", n, len(list), list)
		}
		apart := AppendWords(nil, []byte(strings.Join(list, "; ")))
		if len(text) < MostBytes/4 && !slices.Equal(apart, words) {
			t.Errorf("the words depend on what separates them: %q", list)
		}
	})
}
