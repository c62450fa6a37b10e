package documents

import (
	"strings"
	"testing"

	"mirrorbeam/internal/carry/work"
)

func TestCountTexts(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  work.Texts
	}{
		{nil, work.Texts{}}, // features
		{[]string{""}, work.Texts{Records: 1, Empty: 1}},
		{[]string{" \n\t"}, work.Texts{Records: 1, Empty: 1}},
		{[]string{"", " "}, work.Texts{Records: 1, Empty: 1}},
		{[]string{"words"}, work.Texts{Records: 1}},
		{[]string{"", "words"}, work.Texts{Records: 1}},
		{[]string{" https://example.org/a?b=c "}, work.Texts{Records: 1, Addresses: 1}},
		{[]string{"http://example.org", ""}, work.Texts{Records: 1, Addresses: 1}},
		{[]string{"http://example.org", "words"}, work.Texts{Records: 1}},
		{[]string{"https://example.org is a site"}, work.Texts{Records: 1}},
		{[]string{"see https://example.org"}, work.Texts{Records: 1}},
		{[]string{"https://" + strings.Repeat("x", longestAddress)}, work.Texts{Records: 1}},
	} {
		var texts [][]byte
		for _, text := range test.texts {
			texts = append(texts, []byte(text))
		}
		var got work.Texts
		if countTexts(&got, texts); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.texts, got, test.want)
		}
	}
}
