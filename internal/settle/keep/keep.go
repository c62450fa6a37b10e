// Package keep decides which documents of a cluster are kept.
//
// A document is removed only if a verified edge joins it to one that is kept. So no document is removed through a chain
// of others, and a cluster may keep several documents. The kept documents are a maximal independent set of the similarity
// graph, chosen greedily in the order of preference.
package keep

import (
	"slices"

	"mirrorbeam/internal/carry/records"
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
// sides. Whatever holds for one of them holds for all. Next returns, for each unit of a class but the last, the next one;
// the first unit of a class is known by the first document of the class.
func (d *Documents) units() (units, next []records.Number) {
	if d.Sides == nil {
		return d.First, nil
	}
	type key struct {
		class records.Number
		side  uint64
	}
	firsts := map[key]records.Number{}
	units, next = make([]records.Number, len(d.First)), slices.Repeat([]records.Number{undecided}, len(d.First))
	for i := range units {
		document := records.Number(i)
		k := key{d.First[i], d.Sides[i]}
		if _, known := firsts[k]; !known {
			firsts[k] = document
			if class := k.class; class != document {
				next[document], next[class] = next[class], document
			}
		}
		units[i] = firsts[k]
	}
	return units, next
}

// apart reports whether sides forbid to remove one document for the other.
func (d *Documents) apart(i, j records.Number) bool {
	return d.Sides != nil && d.Sides[i] == d.Sides[j]
}

// Choose decides for all documents. A removed document is assigned to the most similar of the documents that it has an
// edge to and that were kept before it. Of equally similar ones it is assigned to the most preferred.
//
// Edge returns the n edges by number, and whether an edge counts. A heap of copies has millions of
// edges, so Choose holds none of them: it asks for each twice, and again when one of its documents is kept.
func Choose(d Documents, n int, edge func(i int) (e Edge, counts bool)) []Choice {
	c := chooser{Documents: d, edge: edge, turn: make([]uint32, len(d.First))}
	for i, document := range d.Order {
		c.turn[document] = uint32(i)
	}
	c.units, c.next = d.units()
	c.decided, c.isDecided = make([]Choice, len(d.First)), make([]bool, len(d.First))
	c.kept = make([]records.Number, len(d.First))
	for i := range c.decided {
		c.decided[i].Kept, c.kept[i] = undecided, undecided
	}
	c.order(n)
	for _, document := range d.Order {
		c.choose(document)
	}
	// A unit is known by its first document, so its choice stands before the others that it becomes.
	choices := c.decided
	for i, unit := range c.units {
		document := records.Number(i)
		if choices[i] = choices[unit]; d.apart(choices[i].Kept, document) {
			choices[i].Kept = document // its unit is kept
		}
	}
	return choices
}

// chooser decides for one document after the other, in the order of preference. A document that is kept is offered to all
// that it has an edge to.
type chooser struct {
	Documents
	edge   func(i int) (e Edge, counts bool)
	turn   []uint32 // of each document, in the order of preference
	starts []uint32 // where in edges the edges of each class begin
	edges  []uint32 // numbers of the edges by which a class may be offered
	units  []records.Number
	next   []records.Number

	decided   []Choice // of each unit, at its first document: the best offer until it is decided
	isDecided []bool
	kept      []records.Number // the kept document that stands for each class, at its first document
}

// order puts each of the n edges to the class that it may offer to the other one. Without sides that is the class that is
// decided first.
func (c *chooser) order(n int) {
	first := make([]uint32, len(c.First)) // turn of each class
	for i := len(c.Order) - 1; i >= 0; i-- {
		first[c.First[c.Order[i]]] = uint32(i)
	}
	each := func(visit func(class records.Number, i int)) {
		for i := range n {
			e, counts := c.edge(i)
			if !counts {
				continue
			}
			if c.Sides != nil || first[e.A] < first[e.B] {
				visit(e.A, i)
			}
			if c.Sides != nil || first[e.B] < first[e.A] {
				visit(e.B, i)
			}
		}
	}
	c.starts = make([]uint32, len(c.First)+2)
	each(func(class records.Number, _ int) { c.starts[class+2]++ })
	for i := 2; i < len(c.starts); i++ {
		c.starts[i] += c.starts[i-1]
	}
	c.edges = make([]uint32, c.starts[len(c.starts)-1])
	each(func(class records.Number, i int) {
		c.edges[c.starts[class+1]] = uint32(i)
		c.starts[class+1]++
	})
}

// choose decides for a document, unless its unit is decided.
func (c *chooser) choose(document records.Number) {
	class, unit := c.First[document], c.units[document]
	choice := &c.decided[unit]
	if c.isDecided[unit] {
		return
	}
	c.isDecided[unit] = true
	// Only identical documents of another side can have been decided.
	if other := c.kept[class]; other != undecided && (choice.Kept == undecided || choice.Similarity < 1 || c.turn[other] < c.turn[choice.Kept]) {
		*choice = Choice{other, 1}
	}
	if choice.Kept == undecided {
		*choice, c.kept[class] = Choice{document, 1}, document
		c.offer(document)
	}
}

// offer offers a document that is kept to all units that it has an edge to. Of two equally similar documents the first one
// that is offered is the preferred one.
func (c *chooser) offer(document records.Number) {
	class := c.First[document]
	for _, i := range c.edges[c.starts[class]:c.starts[class+1]] {
		e, _ := c.edge(int(i))
		for unit := e.A ^ e.B ^ class; unit != undecided; unit = c.after(unit) {
			best := &c.decided[unit]
			if !c.isDecided[unit] && !c.apart(document, unit) && (best.Kept == undecided || e.Similarity > best.Similarity) {
				*best = Choice{document, e.Similarity}
			}
		}
	}
}

// after returns the next unit of the class, undecided after the last.
func (c *chooser) after(unit records.Number) records.Number {
	if c.next == nil {
		return undecided
	}
	return c.next[unit]
}

// Split says what a cluster is.
type Split string

const (
	// Component: documents joined by edges, directly or through others.
	Component Split = "component"
	// Star: a kept document and the documents that are removed for it.
	Star Split = "star"
)

// Drop says which documents of clusters are removed.
type Drop string

const (
	// Copies: the ones that are like a kept document. One document at least stays of each cluster. An empty Drop says the same.
	Copies Drop = "copies"
	// Clusters: all documents of each cluster. The documents of a reference stay.
	Clusters Drop = "clusters"
	// Reference: the ones that are like a document of a reference.
	Reference Drop = "reference"
)

// Drops lists all of them.
var Drops = []Drop{Copies, Clusters, Reference}

// Rule says what a cluster is, and what is removed of it.
type Rule struct {
	Split Split
	Drop  Drop
}
