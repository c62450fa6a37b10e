package difference

import (
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/sketch"
)

// TestSideBySide: the pieces of both texts are the whole texts, and their passages are the same words.
func TestSideBySide(t *testing.T) {
	a := "one two three four five six seven eight nine ten, and then something else"
	b := "before it: one two three four five six seven eight nine ten. After it nothing"
	s := SideBySide(a, b, 3, sketch.ScriptTokens, Brief())
	join := func(side Side) (whole, marked string) {
		for _, piece := range side.Pieces {
			if whole += piece.Text; piece.Passage == 1 {
				marked += piece.Text
			}
		}
		return whole, marked
	}
	wholeA, markedA := join(s.A)
	wholeB, markedB := join(s.B)
	if wholeA != a || wholeB != b || markedA != markedB ||
		markedA != "one two three four five six seven eight nine ten" {
		t.Errorf("%+v", s)
	}
	long := strings.Repeat("é ", Brief().Bytes)
	s = SideBySide(long+a, long+b, 3, sketch.ScriptTokens, Brief())
	if wholeA, _ := join(s.A); len(wholeA) > Brief().Bytes || !s.A.CutBefore && !s.A.CutAfter ||
		strings.ToValidUTF8(wholeA, "") != wholeA {
		t.Errorf("%d bytes of a long text are shown", len(wholeA))
	}
	if s = SideBySide("", "", 3, sketch.ScriptTokens, Brief()); len(s.Passages) > 0 {
		t.Errorf("empty texts: %+v", s)
	}
}

// TestChanges: of two texts that differ in one word, that word is marked, and nothing else.
func TestChanges(t *testing.T) {
	a := "a wren sat in the old elm and sang until the day was gone"
	s := SideBySide(a, strings.Replace(a, "elm", "oak", 1), 3, sketch.ScriptTokens, Brief())
	for text, side := range map[string]Side{"elm": s.A, "oak": s.B} {
		var changed []string
		for _, piece := range side.Pieces {
			if piece.Changed {
				changed = append(changed, strings.TrimSpace(piece.Text))
			}
		}
		if len(s.Passages) != 1 || !slices.Equal(changed, []string{text}) {
			t.Errorf("changed: %q of %+v", changed, side)
		}
	}
}
