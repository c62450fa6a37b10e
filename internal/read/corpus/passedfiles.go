package corpus

import "strings"

// PassedFiles counts files of searched folders that no format takes, by the endings of their names.
type PassedFiles map[string]int64

// What stands for names without an ending, for endings that are no words, and for those beyond mostEndings.
const (
	noEnding    = "(none)"
	otherEnding = "(other)"
	mostEndings = 100
)

// add counts a file.
func (p PassedFiles) add(name string) {
	ending := nameEnding(name)
	const longest, letters = 12, "abcdefghijklmnopqrstuvwxyz0123456789_-"
	switch _, known := p[ending]; {
	case ending == "" || ending == ".":
		ending = noEnding
	case len(ending) > longest, strings.Trim(ending[1:], letters) != "", !known && len(p) >= mostEndings:
		ending = otherEnding
	}
	p[ending]++
}

// Add adds other counts, and returns the sum. The receiver may be nil.
func (p PassedFiles) Add(other PassedFiles) PassedFiles {
	if p == nil && len(other) > 0 {
		p = PassedFiles{}
	}
	for ending, files := range other {
		p[ending] += files
	}
	return p
}
