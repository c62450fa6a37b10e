package keep

import (
	"cmp"

	"mirrorbeam/internal/docref"
)

// Preference says which documents of a cluster come first when the kept ones are chosen.
type Preference string

const (
	// First prefers the first in document order.
	First Preference = "first"
	// Longest prefers the longest text, then the first.
	Longest Preference = "longest"
)

// Document is what decides which of two documents is preferred.
type Document struct {
	Ref docref.Ref
	// Length is the length of the text in bytes.
	Length uint32
	// IsReference says that the document is of the reference corpus.
	IsReference bool
}

// Compare returns a negative number if a is preferred to b, a positive one if b is preferred to a, and 0 if they are the
// same document. Documents of the reference come before all others, in document order, whatever the preference is.
func (p Preference) Compare(a, b Document) int {
	switch {
	case a.IsReference && !b.IsReference:
		return -1
	case b.IsReference && !a.IsReference:
		return 1
	case p == Longest && !a.IsReference && a.Length != b.Length:
		return cmp.Compare(b.Length, a.Length)
	}
	return cmp.Compare(a.Ref, b.Ref)
}
