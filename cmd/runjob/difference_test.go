package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want []string
	}{
		{"one two three", "one two three", nil},
		{"a b c d e f g h i", "a b c d e F g h i", []string{"... a b c d e [-f-] {+F+} ..."}},
		{"a b c d e f", "a b c x y d e f", []string{"... a b c {+x y+} ..."}},
		{"a b c d e f", "a b c", []string{"... a b c [-d e f-] ..."}},
		{"x a b c d e f y", "a b c d e f z", []string{"...  [-x-] ...", "... b c d e f [-y-] {+z+} ..."}},
	} {
		got := difference(strings.Fields(c.a), strings.Fields(c.b))
		if !slices.Equal(got, c.want) {
			t.Errorf("difference(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  nil,
		" one\ttwo \n":      {"one", "two"},
		"暗投 in明珠, x。":       {"暗", "投", "in", "明", "珠", ",", "x。"},
		"カナ한국":              {"カ", "ナ", "한국"},
		"bad \xff\xe6 byte": {"bad", "\xff\xe6", "byte"},
	} {
		if got := words(text); !slices.Equal(got, want) {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
}
