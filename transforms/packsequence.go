package transforms

import (
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/sketch"
)

// packSequence returns a sequence as a sketch block takes it in, in the memory of b.
func packSequence(b []byte, s sketch.Sequence) []byte {
	return sketchblock.AppendSequence(b[:0], sketchblock.Sequence(s))
}
