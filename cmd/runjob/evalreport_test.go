package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerptIsShort(t *testing.T) {
	if got, want := excerpt(" two \n\n words\t"), "two words"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Whether the limit falls into a word or behind one.
	for length := 1; length <= excerptLength+2; length++ {
		text := strings.Repeat(strings.Repeat("é", length)+" ", 5*excerptLength/length+2)
		if got := excerpt(text); utf8.RuneCountInString(strings.TrimSuffix(got, "…")) > excerptLength ||
			!strings.HasSuffix(got, "…") {
			t.Errorf("of words of %d letters: %q", length, got)
		}
	}
}

func TestExampleWithoutOneText(t *testing.T) {
	x := example{A: "a", B: "b"}
	x.show(map[string]string{"a": "a text"})
	if x.ExcerptA != "a text" || x.ExcerptB != "" || x.Difference != nil {
		t.Errorf("%+v, want no difference from a text that is not there", x)
	}
}

// TestNothingSteersTheTerminal prints names and texts with escape sequences.
func TestNothingSteersTheTerminal(t *testing.T) {
	x := example{A: "a\x1b[2J", B: "b\r"}
	x.show(map[string]string{x.A: "one \x1b]0;x\x07 two", x.B: "one \u202e two"})
	var printed strings.Builder
	printExamples(&printed, "title", []example{x})
	if strings.ContainsAny(printed.String(), "\x1b\x07\r\u202e") || !strings.Contains(printed.String(), "a\\x1b[2J") {
		t.Errorf("%q", printed.String())
	}
}
