package keep

import (
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/records"
)

// TestChooseAcross draws graphs of documents with sides: a document goes only for one of another side that is identical
// to it or has an edge to it, and stays; two of different sides that stay are not so related.
func TestChooseAcross(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	gone := 0
	for range 500 {
		n := 1 + random.IntN(30)
		var order []records.Number
		first, sides := make([]records.Number, n), make([]uint64, n)
		for i := range n {
			first[i], sides[i] = records.Number(i), uint64(1+random.IntN(3))
			if i > 0 && random.IntN(3) == 0 {
				first[i] = first[random.IntN(i)]
			}
		}
		for _, i := range random.Perm(n) {
			order = append(order, records.Number(i))
		}
		near := map[[2]records.Number]bool{}
		var edges []Edge
		for range random.IntN(n + 1) {
			a, b := first[random.IntN(n)], first[random.IntN(n)]
			if a == b || near[[2]records.Number{a, b}] {
				continue
			}
			edges = append(edges, Edge{A: a, B: b, Similarity: float64(1+random.IntN(4)) / 5})
			near[[2]records.Number{a, b}], near[[2]records.Number{b, a}] = true, true
		}
		isPair := func(i, j records.Number) bool {
			return sides[i] != sides[j] && (first[i] == first[j] || near[[2]records.Number{first[i], first[j]}])
		}
		choices := choose(order, first, sides, edges)
		for i := range records.Number(n) {
			kept := choices[i].Kept
			if kept != i {
				gone++
				if choices[kept].Kept != kept || !isPair(i, kept) {
					t.Fatalf("%d goes for %d: %+v, sides %v, classes %v", i, kept, choices, sides, first)
				}
				continue
			}
			for j := range i {
				if choices[j].Kept == j && isPair(i, j) {
					t.Fatalf("%d and %d both stay: %+v, sides %v, classes %v", j, i, choices, sides, first)
				}
			}
		}
	}
	if gone < 1000 {
		t.Errorf("only %d documents go", gone)
	}
}
