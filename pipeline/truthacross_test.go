package pipeline

import (
	"cmp"
	"slices"
)

// edgesAcross returns the pairs of documents that the output pairs must list if documents have sides. First holds the
// first document that is identical to each, and isNear says whether two of these are near each other, whatever their
// sides are. Two classes of identical documents have one row: of the first document of the earlier one and the first of
// the later one that is of another side, or else the other way round. Each document has a row with the first one of
// another side that is identical to it. If there is none, it has the row that an earlier identical one has with its first
// partner.
func (tr *truth) edgesAcross(first []int, isNear func(i, j int) bool) (edges [][2]int) {
	partner := map[int]int{} // the first one, of first documents
	add := func(a, b int) {
		edges = append(edges, [2]int{min(a, b), max(a, b)})
		for _, e := range [][2]int{{a, b}, {b, a}} {
			if known, has := partner[e[0]]; !has || e[1] < known {
				partner[e[0]] = e[1]
			}
		}
	}
	for j := range first {
		for i := range j {
			if first[i] != i || first[j] != j || !isNear(i, j) {
				continue
			}
			if b := tr.firstOther(first, j, i); b >= 0 {
				add(i, b)
			} else if a := tr.firstOther(first, i, j); a >= 0 {
				add(a, j)
			}
		}
	}
	for i := range first {
		if same := tr.firstOther(first, first[i], i); same >= 0 {
			edges = append(edges, [2]int{min(i, same), max(i, same)})
		} else if p, has := partner[first[i]]; has && first[i] != i {
			edges = append(edges, [2]int{min(i, p), max(i, p)})
		}
	}
	slices.SortFunc(edges, func(x, y [2]int) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	return slices.Compact(edges)
}

// firstOther returns the first document of a class that is not of the side of another document, -1 if there is none.
func (tr *truth) firstOther(first []int, class, than int) int {
	for i := range first {
		if first[i] == class && tr.documents[i].side != tr.documents[than].side {
			return i
		}
	}
	return -1
}
