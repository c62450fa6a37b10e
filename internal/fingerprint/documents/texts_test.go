package documents

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/findings"
)

func TestCountTexts(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  findings.Texts
	}{
		{nil, findings.Texts{}}, // features
		{[]string{""}, findings.Texts{Records: 1, Empty: 1}},
		{[]string{" \n\t"}, findings.Texts{Records: 1, Empty: 1}},
		{[]string{"", " "}, findings.Texts{Records: 1, Empty: 1}},
		{[]string{"words"}, findings.Texts{Records: 1}},
		{[]string{"", "words"}, findings.Texts{Records: 1}},
		{[]string{" https://example.org/a?b=c "}, findings.Texts{Records: 1, Addresses: 1}},
		{[]string{"http://example.org", ""}, findings.Texts{Records: 1, Addresses: 1}},
		{[]string{"http://example.org", "words"}, findings.Texts{Records: 1}},
		{[]string{"https://example.org is a site"}, findings.Texts{Records: 1}},
		{[]string{"see https://example.org"}, findings.Texts{Records: 1}},
		{[]string{"https://" + strings.Repeat("x", longestAddress)}, findings.Texts{Records: 1}},
	} {
		var texts [][]byte
		for _, text := range test.texts {
			texts = append(texts, []byte(text))
		}
		var got findings.Texts
		if countTexts(&got, texts); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.texts, got, test.want)
		}
	}
}
