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

// Documents are the documents of an output shard, with numbers from 0.
type Documents struct {
	// Order lists them by preference.
	Order []records.Number
	// First holds, for each document, the first document that is identical to it, or the document itself. Only these
	// first documents have edges, which stand for all identical ones.
	First []records.Number
	// Sides holds the side of each document, nil if there are none. Documents of one side are not removed for each
	// other, whatever edges there are.
	Sides []uint64
}

// units returns the first document of each unit: identical documents of one side, or all identical ones if there are no
// sides. Whatever holds for one of them holds for all.
func (d *Documents) units() []records.Number {
	if d.Sides == nil {
		return d.First
	}
	type key struct {
		class records.Number
		side  uint64
	}
	firsts, units := map[key]records.Number{}, make([]records.Number, len(d.First))
	for i := range units {
		k := key{d.First[i], d.Sides[i]}
		if _, known := firsts[k]; !known {
			firsts[k] = records.Number(i)
		}
		units[i] = firsts[k]
	}
	return units
}

// apart reports whether sides forbid to remove one document for the other.
func (d *Documents) apart(i, j records.Number) bool {
	return d.Sides != nil && d.Sides[i] == d.Sides[j]
}

// Choose decides for all documents. A removed document is assigned to the most similar of the documents that it has an
// edge to and that were kept before it. Of equally similar ones it is assigned to the most preferred. Choose goes through
// the edges twice.
func Choose(d Documents, edges iter.Seq[Edge]) []Choice {
	n := len(d.First)
	neighbours := adjacency(n, edges)
	turn := make([]uint32, n) // of each document, in the order of preference
	for i, document := range d.Order {
		turn[document] = uint32(i)
	}
	units := d.units()
	decided := make([]Choice, n)      // of each unit, at its first document
	kept := make([]records.Number, n) // the kept document that stands for each class of identical ones, at its first document
	for i := range decided {
		decided[i].Kept, kept[i] = undecided, undecided
	}
	choices := make([]Choice, n)
	for _, document := range d.Order {
		class, c := d.First[document], &decided[units[document]]
		if c.Kept == undecided {
			// Only identical documents of another side can have been decided.
			if other := kept[class]; other != undecided {
				*c = Choice{other, 1}
			}
			for i := neighbours.starts[class]; i < neighbours.starts[class+1]; i++ {
				other, similarity := kept[neighbours.documents[i]], neighbours.similarities[i]
				if other == undecided || d.apart(other, document) {
					continue
				}
				if c.Kept == undecided || similarity > c.Similarity || similarity == c.Similarity && turn[other] < turn[c.Kept] {
					*c = Choice{other, similarity}
				}
			}
			if c.Kept == undecided {
				*c, kept[class] = Choice{document, 1}, document
			}
		}
		if choices[document] = *c; d.apart(c.Kept, document) {
			choices[document].Kept = document // its unit is kept
		}
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
