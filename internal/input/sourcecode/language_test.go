package sourcecode

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNames: every language is found by its name, in no other case, and the list is sorted.
func TestNames(t *testing.T) {
	names := Names()
	if len(names) != len(languages()) || !slices.IsSorted(names) ||
		len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names %v", names)
	}
	for _, name := range names {
		if l := Named(name); l == nil || l.Name != name {
			t.Errorf("%s is not found", name)
		}
		if Named(strings.ToUpper(name)) != nil {
			t.Errorf("%s is found in capitals", name)
		}
	}
}

// TestLanguages: what the tables of the languages must hold so that the scanner and Detect work. A sign has two bytes
// of ASCII at least, by which it is looked up, and there are no more signs than bits. Keywords of a language that folds
// case are in lower case, and each keyword is a name by the language's own letters.
func TestLanguages(t *testing.T) {
	for _, l := range languages() {
		if len(l.signs) < fewestSigns || len(l.signs) > 32 {
			t.Errorf("%s has %d signs", l.Name, len(l.signs))
		}
		for i, sign := range l.signs {
			if len(sign) < 2 || sign[0] >= utf8.RuneSelf || sign[1] >= utf8.RuneSelf ||
				slices.Index(l.signs, sign) != i {
				t.Errorf("%s: the sign %q is too short, no ASCII, or there twice", l.Name, sign)
			}
		}
		for word := range l.keywords {
			if l.foldsCase && word != strings.ToLower(word) {
				t.Errorf("%s: the keyword %s is never found", l.Name, word)
			}
			if tokens := cut(l.Name, word); len(tokens) != 1 || tokens[0] != "k"+word {
				t.Errorf("%s: the keyword %s is cut into %q", l.Name, word, tokens)
			}
		}
	}
}

// TestComments: each language finds its comments and its strings, and no comment in a string.
func TestComments(t *testing.T) {
	for _, l := range languages() {
		for _, open := range l.lineComments {
			if tokens := cut(l.Name, open+" a\nb"); len(tokens) != 2 || tokens[0] != "#"+open+" a" {
				t.Errorf("%s: a line comment becomes %q", l.Name, tokens)
			}
			for _, q := range l.literals {
				text := q.open + " x" + open + " " + q.close
				if tokens := cut(l.Name, text); len(tokens) != 1 || tokens[0] != "\""+text {
					t.Errorf("%s: the string %q becomes %q", l.Name, text, tokens)
				}
			}
		}
		for _, c := range l.blockComments {
			text := c.open + " a\nb\n" + c.close
			if tokens := cut(l.Name, text+"\nc"); len(tokens) != 2 || tokens[0] != "#"+text {
				t.Errorf("%s: a block comment becomes %q", l.Name, tokens)
			}
		}
	}
}

// TestCutShort: a text that is cut anywhere has the tokens of the whole one that end before the cut.
func TestCutShort(t *testing.T) {
	const text = "func f(a int) { // one\n\tx := `b` + \"c\" /* d */ 0x1p-2\n}\n"
	for end := range text {
		whole, part := NewScanner(Named("go"), []byte(text)), NewScanner(Named("go"), []byte(text[:end]))
		for want, ok := whole.Next(); ok && want.End < end; want, ok = whole.Next() {
			if got, ok := part.Next(); !ok || got != want {
				t.Fatalf("cut at %d: token %+v, want %+v", end, got, want)
			}
		}
	}
}

// TestMarkLength: the longest operator that a text begins with counts.
func TestMarkLength(t *testing.T) {
	for text, want := range map[string]int{
		">>>=1": 4,
		">>> 1": 3,
		">>1":   2,
		"> >":   1,
		"=":     1,
		"&^=":   3,
		"&^x":   2,
		"?.a":   2,
		"(=":    1,
		"::":    2,
		"+a":    1,
	} {
		if got := markLength([]byte(text)); got != want {
			t.Errorf("%q begins with a mark of %d bytes, want %d", text, got, want)
		}
	}
}
