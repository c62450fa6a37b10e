// Package keep decides which documents of a cluster stay.
//
// A document goes only if a verified edge joins it to one that stays. So no
// document is removed through a chain of others, and a cluster may keep
// several: the ones kept are a maximal independent set of the similarity graph,
// chosen greedily in the order of preference.
package keep

import "iter"

// Edge joins two documents that are similar, but not identical, by their
// numbers.
type Edge struct {
	A, B       uint32
	Similarity float64
}

// Choice is what becomes of a document: it is kept if Kept is its own number,
// else it goes and Kept is the document that stays for it, at that similarity.
type Choice struct {
	Kept       uint32
	Similarity float64
}

const undecided = ^uint32(0)

// Choose decides for all documents, numbered from 0 to len(first)-1. Order lists
// them by preference. First gives for each document the first one that is
// identical to it, or itself; only those first ones have edges, which stand for
// all that are identical. A document that goes is given to the most similar
// among those that it has an edge to and that were kept before it, then to the
// most preferred. The edges are gone through twice.
func Choose(order, first []uint32, edges iter.Seq[Edge]) []Choice {
	n := len(first)
	neighbours := adjacency(n, edges)
	place := make([]uint32, n) // in the order of preference
	for i, document := range order {
		place[document] = uint32(i)
	}
	// The choice of a class of identical documents stands at its first one.
	class := make([]Choice, n)
	for i := range class {
		class[i].Kept = undecided
	}
	choices := make([]Choice, n)
	for _, document := range order {
		c := &class[first[document]]
		if c.Kept == undecided {
			for i := neighbours.starts[first[document]]; i < neighbours.starts[first[document]+1]; i++ {
				neighbour, similarity := neighbours.documents[i], neighbours.similarities[i]
				other := class[neighbour]
				// Only a class that is kept stands for itself.
				if other.Kept == undecided || first[other.Kept] != neighbour {
					continue
				}
				if c.Kept == undecided || similarity > c.Similarity ||
					similarity == c.Similarity && place[other.Kept] < place[c.Kept] {
					*c = Choice{other.Kept, similarity}
				}
			}
			if c.Kept == undecided {
				*c = Choice{document, 1}
			}
		}
		choices[document] = *c
	}
	return choices
}

// graph holds the neighbours of all documents, those of one next to each other.
// A heap of copies has millions of edges, so they are packed.
type graph struct {
	starts       []uint32
	documents    []uint32
	similarities []float64
}

func adjacency(n int, edges iter.Seq[Edge]) *graph {
	g := &graph{starts: make([]uint32, n+2)}
	total := 0
	for e := range edges {
		g.starts[e.A+2]++
		g.starts[e.B+2]++
		total += 2
	}
	g.documents, g.similarities = make([]uint32, total), make([]float64, total)
	for i := 2; i < len(g.starts); i++ {
		g.starts[i] += g.starts[i-1]
	}
	for e := range edges {
		for _, seen := range [2][2]uint32{{e.A, e.B}, {e.B, e.A}} {
			at := g.starts[seen[0]+1]
			g.documents[at], g.similarities[at] = seen[1], e.Similarity
			g.starts[seen[0]+1]++
		}
	}
	return g
}
