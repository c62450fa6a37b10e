package scoring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// costly makes the next text of a corpus in which very many documents share shingles, and hardly two are alike.
type costly func(random *rand.Rand) string

// fewWords makes texts of 60 words from a vocabulary of a given size.
func fewWords(words int) costly {
	return func(random *rand.Rand) string {
		text := make([]string, 60)
		for i := range text {
			text[i] = fmt.Sprint("w", random.IntN(words))
		}
		return strings.Join(text, " ")
	}
}

// slots makes texts of one of three families: each takes one of three variants of each slot.
func slots(count, words int) costly {
	return func(random *rand.Rand) string {
		var text []string
		family := random.IntN(3)
		for slot := range count {
			text = append(text, prose(fmt.Sprintf("f%ds%dv%dq", family, slot, random.IntN(3)), 0, words))
		}
		return strings.Join(text, " ")
	}
}

// blocks makes texts of six of 60 blocks of ten words, in any order.
func blocks(random *rand.Rand) string {
	var text []string
	for _, block := range random.Perm(60)[:6] {
		text = append(text, prose(fmt.Sprintf("b%dx", block), 0, 10))
	}
	return strings.Join(text, " ")
}

// halves makes texts of two halves, each one of 20.
func halves(random *rand.Rand) string {
	return prose(fmt.Sprintf("a%dx", random.IntN(20)), 0, 30) + " " + prose(fmt.Sprintf("b%dx", random.IntN(20)), 0, 30)
}

// walk makes texts of walks over 30 words, each with two successors.
func walk(random *rand.Rand) string {
	text, word := make([]string, 60), random.IntN(30)
	for i := range text {
		text[i] = fmt.Sprint("w", word)
		word = (word*[]int{7, 11}[random.IntN(2)] + 1) % 30
	}
	return strings.Join(text, " ")
}

func (c costly) texts(t *testing.T, documents int) []text {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	contents := make([]string, documents)
	for i := range contents {
		contents[i] = c(random)
	}
	return newProse(t, contents...)
}

// compared does a task, and returns how many sets or texts it compared.
func compared(t *testing.T, runs work.Runs, task work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) (n int64) {
	t.Helper()
	_, err := worktest.Try(t, runs, task, func(ctx context.Context, task work.Task, w *work.TaskContext) error {
		err := do(ctx, task, w)
		n = w.Figures.Compared
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// allPairs returns all pairs of n texts.
func allPairs(n int) (pairs [][2]int) {
	for a := range n {
		for b := range a {
			pairs = append(pairs, [2]int{b, a})
		}
	}
	return pairs
}

var costlySets = []struct {
	name      string
	of        costly
	threshold float64
	most      int64 // pairs of 1,000 that may be compared
}{
	{"15 words", fewWords(15), .8, 1},
	{"15 words, half alike", fewWords(15), .5, 1},
	{"40 words", fewWords(40), .8, 1},
	{"20 slots", slots(20, 3), .8, 1},
	{"12 slots", slots(12, 5), .8, 1},
	{"12 slots, half alike", slots(12, 5), .5, 5}, // some are followers of others
	{"blocks", blocks, .8, 1},
	{"blocks, half alike", blocks, .5, 1},
}

// TestCostlyPairs: bitmaps rule most of very many candidate pairs out, and no similar one.
func TestCostlyPairs(t *testing.T) {
	const documents = 300
	pairs := allPairs(documents)
	for _, c := range costlySets {
		t.Run(c.name, func(t *testing.T) {
			runs, texts := worktest.Runs(t), c.of.texts(t, documents)
			path := writePlace(t, runs, 0, texts, pairs)
			s := newSets(t, runs, Similarity{Threshold: c.threshold}, 1<<20)
			task := worktest.Tasks(t, runs, Delivery(), path)[0]
			if n := compared(t, runs, task, s.Task); n > int64(len(pairs))*c.most/1000 {
				t.Errorf("%d of %d pairs are compared", n, len(pairs))
			}
		})
	}
}

// TestCostlyHotGroups: a document of a hot group is compared with hardly any of very many pivots that it is not like,
// also where documents have sides, so that the index has to find the pivots.
func TestCostlyHotGroups(t *testing.T) {
	const documents = 1000
	for _, c := range costlySets {
		for sides := range uint64(2) {
			t.Run(fmt.Sprintf("%s, sides %d", c.name, sides), func(t *testing.T) {
				texts := c.of.texts(t, documents)
				for i := range texts {
					texts[i].side = sides * uint64(1+i%3)
				}
				runs := worktest.Runs(t)
				h := &HotGroups{Similarity: Similarity{Threshold: c.threshold}, ListedPairs: 1 << 20}
				task := writeHotGroups(t, runs, h, 0, texts, documents)
				if n := compared(t, runs, task, h.Task); n > documents*documents/2*c.most/1000 {
					t.Errorf("%d sets are compared", n)
				}
			})
		}
	}
}

// TestCostlyPivots: the bitmaps of all pivots of a hot group leave hardly any to look at one by one.
func TestCostlyPivots(t *testing.T) {
	const documents = 1000
	for _, c := range costlySets {
		t.Run(c.name, func(t *testing.T) {
			h := &HotGroups{Similarity: Similarity{Threshold: c.threshold}}
			group := h.newHotGroups(nil, nil, make([]member, documents))[0]
			seen := 0
			for _, text := range c.of.texts(t, documents) {
				d := document{ref: text.Ref, size: len(text.set), set: text.set}
				pivots, _ := group.among(&d)
				seen += len(pivots)
				group.lead(&d, group.index.Set(group.index.Add(d.set)))
			}
			if seen > documents*documents/2*int(c.most)*10/1000 {
				t.Errorf("%d pivots are left", seen)
			}
		})
	}
}

// TestCostlyPassages: of texts that share a half, those are compared that share more.
func TestCostlyPassages(t *testing.T) {
	const documents = 300
	pairs := allPairs(documents)
	for _, c := range []struct {
		name string
		of   costly
		most int64 // pairs of 1,000 that may be compared
	}{
		{"halves", halves, 12}, // 3 are equal
		{"blocks", blocks, 6},
		{"12 slots", slots(12, 5), 25},
		{"20 slots", slots(20, 3), 4},
		{"15 words", fewWords(15), 1},
		{"walks", walk, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs, texts := worktest.Runs(t), c.of.texts(t, documents)
			path := writePlace(t, runs, 0, texts, pairs)
			p := Passages{Threshold: .8, Excerpt: 50, Shingle: shingle, FirstPart: firstPart}
			task := worktest.Tasks(t, runs, Delivery(), path)[0]
			if n := compared(t, runs, task, p.Task); n > int64(len(pairs))*c.most/1000 {
				t.Errorf("%d of %d pairs are compared", n, len(pairs))
			}
		})
	}
}
