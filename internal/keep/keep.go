// Package keep decides which documents of a cluster are kept.
//
// A document is removed only if a verified edge joins it to one that is kept. So no document is removed through a chain
// of others, and a cluster may keep several documents. The kept documents are a maximal independent set of the similarity
// graph, chosen greedily in the order of preference.
package keep

import (
	"iter"

	"mirrorbeam/internal/records"
)

// Edge joins two documents that are similar, but not identical.
type Edge struct {
	A, B records.Number
	// Similarity is from 0 to 1.
	Similarity float64
}

// Choice is what becomes of a document. A document is kept if Kept is its own number. Otherwise it is removed, and Kept is
// the kept document to which it is assigned, at that similarity.
type Choice struct {
	Kept       records.Number
	Similarity float64
}

const undecided = ^records.Number(0)

// Choose decides for all documents of an output shard, with numbers from 0 to len(first)-1. Order lists them by
// preference. First holds, for each document, the first document that is identical to it, or the document itself. Only
// these first documents have edges, which stand for all identical ones. A removed document is assigned to the most
// similar of the documents that it has an edge to and that were kept before it. Of equally similar ones it is assigned to
// the most preferred. Choose goes through the edges twice.
func Choose(order, first []records.Number, edges iter.Seq[Edge]) []Choice {
	n := len(first)
	neighbours := adjacency(n, edges)
	turn := make([]uint32, n) // of each document, in the order of preference
	for i, document := range order {
		turn[document] = uint32(i)
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
					similarity == c.Similarity && turn[other.Kept] < turn[c.Kept] {
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

// graph holds the neighbours of all documents. The neighbours of one document stand next to each other. A heap of copies
// has millions of edges, so they are packed.
type graph struct {
	starts       []uint32
	documents    []records.Number
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
	g.documents, g.similarities = make([]records.Number, total), make([]float64, total)
	for i := 2; i < len(g.starts); i++ {
		g.starts[i] += g.starts[i-1]
	}
	for e := range edges {
		for _, seen := range [2][2]records.Number{{e.A, e.B}, {e.B, e.A}} {
			at := g.starts[seen[0]+1]
			g.documents[at], g.similarities[at] = seen[1], e.Similarity
			g.starts[seen[0]+1]++
		}
	}
	return g
}
