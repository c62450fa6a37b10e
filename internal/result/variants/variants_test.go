package variants

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompare: what is exchanged makes one text of the other, and all else is equal.
func TestCompare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := make([]word, random.IntN(12)), make([]word, random.IntN(12))
		for _, text := range [][]word{a, b} {
			for i := range text {
				text[i] = word(random.IntN(3))
			}
		}
		var made []word
		last, edits := 0, 0
		for _, h := range compare(a, b) {
			made = append(append(made, a[last:h.from[0]]...), b[h.from[1]:h.to[1]]...)
			last, edits = h.to[0], edits+h.to[0]-h.from[0]+h.to[1]-h.from[1]
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
		name  string
		pairs []Pair
		want  []bool
	}{
		{"names at two places", []Pair{{1, 0}}, []bool{true}},
		{"one word at one place", []Pair{{2, 0}}, []bool{false}},
		{"numbers", []Pair{{4, 3}}, []bool{false}},
		{"a third word at that place", []Pair{{5, 0}, {6, 0}}, []bool{true, true}},
		{"the same document", []Pair{{0, 0}}, []bool{false}},
		{"none", nil, []bool{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Judge(texts, test.pairs); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
