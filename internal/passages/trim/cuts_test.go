package trim

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/sketch"
)

// reading returns a reader of texts under a measure.
func reading(t *testing.T, o sketch.Options) *reader {
	t.Helper()
	o.Measure.Shingle = 3
	r, err := newReader(Rule{Unit: Words, Words: 2, Copies: 2}, documents.Sketching{Options: o}, &documents.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestJoins: what is around a cut is joined at borders of words, and one of the two separators stays. Words in braces
// are cut.
func TestJoins(t *testing.T) {
	plain := sketch.Options{Measure: sketch.Measure{Tokens: sketch.ScriptTokens}}
	for _, c := range []struct {
		text, want string
	}{
		{"One. {Two two.} Three.", "One. Three."},
		{"One {two two}. Three.", "One. Three."},
		{"One\n\n{Two two} two. Three.", "One\n\ntwo. Three."},
		{"One one {two two}.\n\nThree.", "One one.\n\nThree."},
		{" \"{One one}\" two.\n", "two.\n"},
		{"One. \"{Two two}\".\n", "One.\n"},
		{"{One one.}\n", ""},
		{"One {two two} three {four four} five", "One three five"},
		{"{One one} two {three three}", "two"},
		{"one{漢字}two", "one two"},
		{"漢{字字}two", "漢two"},
		{"中{文文}字", "中字"},
	} {
		text, runs := "", []int(nil)
		for i, piece := range strings.FieldsFunc(c.text, func(r rune) bool { return r == '{' || r == '}' }) {
			if (i%2 == 1) != strings.HasPrefix(c.text, "{") {
				runs = append(runs, len(text), len(text)+len(piece))
			}
			text += piece
		}
		r := reading(t, plain)
		r.read([]byte(text))
		var cuts []corpus.Cut
		for ; len(runs) > 0; runs = runs[2:] {
			from, to := 0, 0
			for i := range r.words.Len() {
				if int(r.words.Starts[i]) < runs[0] {
					from = i + 1
				}
				if int(r.words.Starts[i]) < runs[1] {
					to = i + 1
				}
			}
			if cut, is := r.cut(from, to); is {
				cuts = append(cuts, cut)
			}
		}
		if got := string(corpus.AppendCut(nil, []byte(text), cuts)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestStretches: words that normalization finds in one stretch of the text are cut together, or none is.
func TestStretches(t *testing.T) {
	r := reading(t, sketch.Options{
		Measure:       sketch.Measure{Tokens: sketch.ScriptTokens},
		Normalization: sketch.Normalization{NFKC: true},
	})
	text := []byte("a ㍿ b") // the sign is four words
	for _, c := range []struct {
		from, to int
		want     string
	}{{0, 3, "㍿ b"}, {2, 6, "a ㍿ "}, {2, 4, "a ㍿ b"}, {1, 5, "a b"}} {
		r.read(text)
		var cuts []corpus.Cut
		if cut, is := r.cut(c.from, c.to); is {
			cuts = append(cuts, cut)
		}
		if got := string(corpus.AppendCut(nil, text, cuts)); got != c.want || r.words.Len() != 6 {
			t.Errorf("words %d to %d of %d: %q, want %q", c.from, c.to, r.words.Len(), got, c.want)
		}
	}
}
