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
		t.Run(c.a, func(t *testing.T) {
			got := differenceLines(strings.Fields(c.a), strings.Fields(c.b))
			if !slices.Equal(got, c.want) {
				t.Errorf("difference(%q, %q) = %q, want %q", c.a, c.b, got, c.want)
			}
		})
	}
}
