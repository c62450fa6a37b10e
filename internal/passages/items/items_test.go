package items

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMatch: an item is found where a text has enough of its words in their order, whatever is around it.
func TestMatch(t *testing.T) {
	item := make([]uint64, 20)
	for i := range item {
		item[i] = uint64(i + 1)
	}
	changed := func(at ...int) []uint64 {
		words := slices.Clone(item)
		for _, i := range at {
			words[i] = uint64(1000 + i)
		}
		return words
	}
	around := []uint64{101, 102, 103, 104, 105}
	for _, c := range []struct {
		name string
		text []uint64
		want []Found
	}{
		{"alone", item, []Found{{0, 0, 20, 20, 20}}},
		{"within", slices.Concat(around, item, around), []Found{{0, 5, 25, 20, 20}}},
		{"twice", slices.Concat(item, around, around, item), []Found{{0, 0, 20, 20, 20}, {0, 30, 50, 20, 20}}},
		{"words changed", slices.Concat(around, changed(3, 9, 15)), []Found{{0, 5, 25, 17, 20}}},
		{"words put in", slices.Concat(item[:7], around[:3], item[7:]), []Found{{0, 0, 23, 20, 20}}},
		{"words left out", slices.Concat(around, item[:4], item[8:]), []Found{{0, 5, 21, 16, 20}}},
		{"too many changed", changed(1, 4, 7, 13, 16, 19), nil},
		{"its half", item[:12], nil},
		{"spread", slices.Concat(item[:10], around, around, around, item[10:]), nil},
		{"no text", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMatcher(NewTable([][]uint64{item}, 0.75))
			for range 2 {
				if got := m.Match(c.text); !slices.Equal(got, c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

// lcs is the length of the longest common subsequence, as defined.
func lcs(a, b []uint64) int {
	last := make([]int, len(b)+1)
	for _, x := range a {
		next := make([]int, len(b)+1)
		for j, y := range b {
			next[j+1] = max(last[j+1], next[j])
			if x == y {
				next[j+1] = max(next[j+1], last[j]+1)
			}
		}
		last = next
	}
	return last[len(b)]
}

// TestGenerated: what is found has the words that it is said to have, and what was put into a text is found, also among
// items that have most of their words in common.
func TestGenerated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n, vocabulary int) []uint64 {
		words := make([]uint64, n)
		for i := range words {
			words[i] = uint64(1 + random.IntN(vocabulary))
		}
		return words
	}
	for _, vocabulary := range []int{4, 30, 5000} {
		t.Run(fmt.Sprint(vocabulary), func(t *testing.T) {
			all := make([][]uint64, 60)
			for i := range all {
				if all[i] = draw(8+random.IntN(50), vocabulary); i > 30 { // a template
					all[i] = slices.Clone(all[30])
					all[i][random.IntN(len(all[i]))] = uint64(9000 + i)
				}
			}
			m := NewMatcher(NewTable(all, 0.75))
			for range 200 {
				number := random.IntN(len(all))
				copied := slices.Clone(all[number])
				for range len(copied) / 10 {
					copied[random.IntN(len(copied))] = uint64(20_000 + random.IntN(99))
				}
				before := draw(random.IntN(40), vocabulary)
				text := slices.Concat(before, copied, draw(random.IntN(40), vocabulary))
				isThere := false
				for _, f := range m.Match(text) {
					n := lcs(all[f.Item], text[f.From:f.To])
					if n != f.Words || n < Need(f.Of, 0.75) || f.Of != len(all[f.Item]) {
						t.Fatalf("%+v: %d words are common, of %d", f, n, len(all[f.Item]))
					}
					isThere = isThere || f.Item == number && f.From < len(before)+len(copied) && f.To > len(before)
				}
				if !isThere {
					t.Fatalf("item %d is not found in a copy: %v in %v", number, all[number], text)
				}
			}
		})
	}
}
