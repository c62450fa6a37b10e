package difference

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/sketch"
)

func TestMerged(t *testing.T) {
	const long = "one two three four five six seven eight nine ten eleven twelve"
	const other = "red orange yellow green blue violet black white grey brown pink gold"
	for _, c := range []struct {
		a, b string
		want []Run
	}{
		{long, long, []Run{{Both: long}}},
		{"a b", "c", []Run{{A: "a b", B: "c"}}},
		{"", "", nil},
		{long, strings.Replace(long, "six", "6", 1), []Run{
			{Both: "one two three four five"}, {A: "six", B: "6"}, {Both: "seven eight nine ten eleven twelve"},
		}},
	} {
		got := SideBySide(c.a, c.b, 3, sketch.ScriptTokens, Brief()).Merged()
		if !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: %+v, want %+v", c.a, c.b, got, c.want)
		}
	}
	// The second text has both parts, in the other order.
	got := SideBySide(long+" and "+other, other+"\n"+long, 3, sketch.ScriptTokens, Brief()).Merged()
	want := []Run{{Both: long}, {A: "and"}, {Both: other, Moved: true}}
	if !slices.Equal(got, want) {
		t.Errorf("moved: %+v, want %+v", got, want)
	}
}

// TestMergedIsWhole: whatever two texts are, what is merged has all of the first text in its order, and all of the
// second one in some order.
func TestMergedIsWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(80) {
			b.WriteString([]string{
				"a ", "b ", "c ", "d ", "e ", "f ", "g ", "h. ", "文", "章 ", "\xff ",
				"1 ",
			}[random.IntN(12)])
		}
		return b.String()
	}
	for range 300 {
		a, b := text(), text()
		if random.IntN(2) == 0 {
			b = a[len(a)/2:] + b + a[:len(a)/3]
		}
		ofA, ofB := "", ""
		for _, run := range SideBySide(a, b, 3, sketch.ScriptTokens, Brief()).Merged() {
			ofA, ofB = ofA+run.Both+run.A, ofB+run.Both+run.B
		}
		if bare(ofA) != bare(a) || letters(ofB) != letters(b) {
			t.Fatalf("%q and %q: %q and %q", a, b, ofA, ofB)
		}
	}
}

// bare returns a text without its spaces.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

// letters returns the bytes of a text without its spaces, in order.
func letters(text string) string {
	b := []byte(bare(text))
	slices.Sort(b)
	return string(b)
}

func TestJoin(t *testing.T) {
	for _, text := range []string{"", "one two", "文章", "in 文章 x"} {
		if got := Join(Words(text)); got != text {
			t.Errorf("Join(Words(%q)) = %q", text, got)
		}
	}
}
