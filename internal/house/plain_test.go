package house

import (
	"os"
	"regexp"
	"testing"
)

// mostStacked is how many lines of comments may have a stacked form, which a reader in a hurry reads twice: name the noun
// in its place. It shall only fall.
const mostStacked = 40

var stacked = regexp.MustCompile(`(?m)^\s*//.*\b(that of|those of|of which|so many|as far as)\b`)

// TestPlainEnglish counts the stacked forms in comments.
func TestPlainEnglish(t *testing.T) {
	found := 0
	eachFile(t, ".go", 20, func(_ *testing.T, name string) error {
		content, err := os.ReadFile(name)
		found += len(stacked.FindAll(content, -1))
		return err
	})
	if found >= mostStacked {
		t.Errorf("%d lines of comments have a stacked form such as \"those of\", and must be below %d: name the noun", found, mostStacked)
	}
}

// TestNoMarksOfMerges: no page has the marks of a merge that somebody has not finished. Go refuses them in its files.
func TestNoMarksOfMerges(t *testing.T) {
	marks := regexp.MustCompile(`(?m)^(<<<<<<<|>>>>>>>) `)
	eachFile(t, ".md", 10, func(t *testing.T, name string) error {
		content, err := os.ReadFile(name)
		if marks.Match(content) {
			t.Errorf("%s has marks of a merge", name)
		}
		return err
	})
}
