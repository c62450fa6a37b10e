package candidates

import "mirrorbeam/internal/docref"

// Class is a class of equal documents, which are similar to the same others.
type Class struct {
	// First is the first of them, Input the first that is of the input. Input is
	// First where all are of the reference.
	First, Input docref.Ref
}

// Ends returns the documents that a pair of two classes is known by, of which at
// most one is of the reference. They are the first of each class. Where the
// reference begins both, the later one is known by its first of the input instead,
// or the earlier one if the later has none. Where neither has any, there is no pair,
// and ok is false.
func Ends(a, b Class, firstInput docref.Ref) (x, y docref.Ref, ok bool) {
	if a.First > b.First {
		y, x, ok = Ends(b, a, firstInput)
		return x, y, ok
	}
	switch {
	case b.First >= firstInput:
		return a.First, b.First, true
	case b.Input >= firstInput:
		return a.First, b.Input, true
	}
	return a.Input, b.First, a.Input >= firstInput
}
