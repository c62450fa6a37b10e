package candidates

import "mirrorbeam/internal/ground/docref"

// Class is a class of equal documents. They are similar to the same other documents.
//
// Two documents are not compared if both are of the reference, or if both are of one side. So a class may need two
// documents to stand for it: a second one for pairs that its first one cannot make.
type Class struct {
	// First is the first document of the class. Second is the first of those that may be compared with First: where
	// First is of the reference it is the first of the input, and where First has a side it is the first of another
	// side. If there is none, Second is First.
	First, Second docref.Ref
	// Side is the side of First, 0 if it has none.
	Side uint64
}

// Apart reports whether no document of one class is compared with one of the other: all of both are of the reference, or
// of one side.
func Apart(a, b Class, firstInput docref.Ref) bool {
	return a.First == a.Second && b.First == b.Second && firstsApart(a, b, firstInput)
}

// firstsApart reports whether the first documents of two classes are not compared.
func firstsApart(a, b Class, firstInput docref.Ref) bool {
	return max(a.First, b.First) < firstInput || a.Side != 0 && a.Side == b.Side
}

// Ends returns the two documents that stand for a pair of classes. Each is the first document of its class, unless these
// two are not compared. Then the second document stands for the later class or, if that has none, for the earlier class.
// If neither has one, there is no pair, and ok is false.
func Ends(a, b Class, firstInput docref.Ref) (x, y docref.Ref, ok bool) {
	if a.First > b.First {
		y, x, ok = Ends(b, a, firstInput)
		return x, y, ok
	}
	switch {
	case !firstsApart(a, b, firstInput):
		return a.First, b.First, true
	case b.Second != b.First:
		return a.First, b.Second, true
	}
	return a.Second, b.First, a.Second != a.First
}
