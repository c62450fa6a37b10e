package difference

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  nil,
		" one\ttwo \n":      {"one", "two"},
		"暗投 in明珠, x。":       {"暗", "投", "in", "明", "珠", ",", "x。"},
		"カナ한국":              {"カ", "ナ", "한국"},
		"bad \xff\xe6 byte": {"bad", "\xff\xe6", "byte"},
	} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}
