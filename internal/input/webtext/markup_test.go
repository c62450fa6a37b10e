package webtext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMarkup(t *testing.T) {
	page := `<!doctype html><html><head><title>A</title><script>if (a<b) x("<p>")</script></head><body><div><form><input type="text" name=user>` +
		`<input type=password name='pass'><button>Go</button></form></div><p>text</p></body></html>`
	one := AppendMarkup(nil, []byte(page))
	if len(one) != MarkupBytes {
		t.Fatalf("a sketch of %d bytes", len(one))
	}
	same := strings.NewReplacer("text</p>", "other words</p>", "<div>", "<DIV class=x>", "title>A", "title>B", `"<p>"`,
		`"<i>"`).Replace(page)
	if got := MarkupSimilarity(one, AppendMarkup(nil, []byte(same))); got != 1 {
		t.Errorf("other words: similarity %g", got)
	}
	other := strings.Replace(page, "name=user", "name=query", 1)
	if got := MarkupSimilarity(one, AppendMarkup(nil, []byte(other))); got > 0.95 || got < 0.2 {
		t.Errorf("another field: similarity %g", got)
	}
	for _, page := range []string{
		"", "no tag", "<p><p><p>", "</a></b></c></d>", "<1><2><3><4><5>",
		"<script><a><b><c><d>",
	} {
		if got := AppendMarkup(nil, []byte(page)); len(got) > 0 {
			t.Errorf("%q has a sketch", page)
		}
	}
}

// TestMarkupEstimate compares the estimate with the similarity of the sets of shingles: the mean error is near 0, and
// the mean squared error the error of 32 samples.
func TestMarkupEstimate(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 5))
	sum, squares, expected := 0., 0., 0.
	const rounds = 400
	for range rounds {
		var a, b strings.Builder
		sets := [2]map[string]bool{{}, {}}
		var last [2][]string
		for range 60 {
			tag := fmt.Sprintf("t%d", random.IntN(1000))
			tags := [2]string{tag, tag}
			if random.IntN(12) == 0 {
				tags[1] = "other" + tag
			}
			for i, w := range []*strings.Builder{&a, &b} {
				fmt.Fprintf(w, "<%s>", tags[i])
				if last[i] = append(last[i], tags[i]); len(last[i]) >= markupShingle {
					sets[i][strings.Join(last[i][len(last[i])-markupShingle:], " ")] = true
				}
			}
		}
		shared := 0
		for shingle := range sets[0] {
			if sets[1][shingle] {
				shared++
			}
		}
		want := float64(shared) / float64(len(sets[0])+len(sets[1])-shared)
		off := MarkupSimilarity(AppendMarkup(nil, []byte(a.String())), AppendMarkup(nil, []byte(b.String()))) - want
		sum += off
		squares += off * off
		expected += want * (1 - want) / MarkupBytes
	}
	if math.Abs(sum/rounds) > 0.02 || squares > 1.3*expected {
		t.Errorf("mean error %g, mean squared error %g, want %g", sum/rounds, squares/rounds, expected/rounds)
	}
}

func FuzzMarkup(f *testing.F) {
	f.Add([]byte("<a><b><c><d e=f><input type=x name='y'><script></script>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		sketch := AppendMarkup([]byte{7}, page)
		if n := len(sketch); n != 1 && n != 1+MarkupBytes || sketch[0] != 7 {
			t.Fatalf("%d bytes", n)
		}
		if len(sketch) > 1 && MarkupSimilarity(sketch[1:], sketch[1:]) != 1 {
			t.Error("a sketch is not like itself")
		}
	})
}
