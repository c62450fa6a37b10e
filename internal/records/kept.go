package records

import (
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/sketch"
)

// LastingKeySize is the size of the record of a short key, in bytes.
const LastingKeySize = 4

// KeptPair is a pair with the passages that its documents have in common, for the next run of a scheduled job.
type KeptPair struct {
	// A and B are the documents by the numbers that their files have in the run that found the pair.
	A, B docref.Ref
	Score
	// Spans are the listed passages, and More is the number of others.
	Spans []sketch.Span
	More  uint32
}
