package keep

import (
	"math/rand/v2"
	"testing"

	"mirrorbeam/internal/carry/records"
)

// TestChooseAcross draws graphs of documents with sides: a document goes only for one of another side that is identical to
// it or has an edge to it, and stays; two of different sides that stay are not so related.
func TestChooseAcross(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	gone := 0
	for range 500 {
		n := 1 + random.IntN(30)
		d := Documents{First: make([]records.Number, n), Sides: make([]uint64, n)}
		for i := range n {
			d.First[i], d.Sides[i] = records.Number(i), uint64(1+random.IntN(3))
			if i > 0 && random.IntN(3) == 0 {
				d.First[i] = d.First[random.IntN(i)]
			}
		}
		for _, i := range random.Perm(n) {
			d.Order = append(d.Order, records.Number(i))
		}
		near := map[[2]records.Number]bool{}
		var edges []Edge
		for range random.IntN(n + 1) {
			a, b := d.First[random.IntN(n)], d.First[random.IntN(n)]
			if a == b || near[[2]records.Number{a, b}] {
				continue
			}
			edges = append(edges, Edge{a, b, float64(1+random.IntN(4)) / 5})
			near[[2]records.Number{a, b}], near[[2]records.Number{b, a}] = true, true
		}
		isPair := func(i, j records.Number) bool {
			return d.Sides[i] != d.Sides[j] && (d.First[i] == d.First[j] || near[[2]records.Number{d.First[i], d.First[j]}])
		}
		choices := Choose(d, len(edges), listed(edges))
		for i := range records.Number(n) {
			kept := choices[i].Kept
			if kept != i {
				gone++
				if choices[kept].Kept != kept || !isPair(i, kept) {
					t.Fatalf("%d goes for %d: %+v, sides %v, classes %v", i, kept, choices, d.Sides, d.First)
				}
				continue
			}
			for j := range i {
				if choices[j].Kept == j && isPair(i, j) {
					t.Fatalf("%d and %d both stay: %+v, sides %v, classes %v", j, i, choices, d.Sides, d.First)
				}
			}
		}
	}
	if gone < 1000 {
		t.Errorf("only %d documents go", gone)
	}
}
