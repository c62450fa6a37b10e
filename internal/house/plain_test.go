package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostStacked is how many lines of comments may have a stacked form, which a reader in a hurry reads twice: name the
// noun in its place. It shall only fall.
const mostStacked = 31

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
		t.Errorf("%d lines of comments have a stacked form such as \"those of\", and must be below %d: name the noun",
			found, mostStacked)
	}
}

// mostWide is how many lines of Go may be wider than 120 columns, where a tab is four. It shall only fall: what is left
// are strings that are searched for, and commands of generators.
const mostWide = 225

// TestWidth counts wide lines.
func TestWidth(t *testing.T) {
	found := 0
	eachFile(t, ".go", 20, func(_ *testing.T, name string) error {
		content, err := os.ReadFile(name)
		for line := range strings.Lines(string(content)) {
			if utf8.RuneCountInString(line)-1+3*strings.Count(line, "\t") > 120 {
				found++
			}
		}
		return err
	})
	if found > mostWide {
		t.Errorf("%d lines are wider than 120 columns, and %d may be: break them", found, mostWide)
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
