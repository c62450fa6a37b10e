package keep

// Preference says which documents of a cluster come first when those to be kept are
// chosen.
type Preference string

const (
	// First prefers the first in document order.
	First Preference = "first"
	// Longest prefers the longest text, then the first.
	Longest Preference = "longest"
)
