package candidates

import "mirrorbeam/internal/docref"

// Class is a class of equal documents. They are similar to the same other documents.
type Class struct {
	// First is the first document of the class, and Input is the first that is of the input. If all are of the
	// reference, Input is First.
	First, Input docref.Ref
}

// Ends returns the two documents that stand for a pair of classes. At most one of them is of the reference. Each is the
// first document of its class, unless both of these are of the reference. Then the first document of the input stands
// for the later class or, if that class has none, for the earlier class. If neither class has a document of the input,
// there is no pair, and ok is false.
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
