// Package keep decides which documents of a cluster are kept.
//
// A document is removed only if a verified edge joins it to one that is kept. So no document is removed through a chain
// of others, and a cluster may keep several documents. The kept documents are a maximal independent set of the similarity
// graph, chosen greedily in the order of preference.
package keep

import (
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/paged"
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
	// Store is where lists of documents are held.
	Store *paged.Store
	// Order lists them by preference.
	Order *Numbers
	// First holds, for each document, the first document that is identical to it, or the document itself. Only these
	// first documents have edges, which stand for all identical ones.
	First *Numbers
	// Sides holds the side of each document, nil if there are none. Documents of one side are not removed for each
	// other, whatever edges there are.
	Sides *paged.List[records.Number, uint64]
}

// Numbers has a number for each document.
type Numbers = paged.List[records.Number, records.Number]

// units returns the first document of each unit: identical documents of one side, or all identical ones if there are no
// sides. Whatever holds for one of them holds for all. Next returns, for each unit of a class but the last, the next one;
// the first unit of a class is known by the first document of the class.
func (d *Documents) units() (units, next *Numbers) {
	if d.Sides == nil {
		return d.First, nil
	}
	type key struct {
		class records.Number
		side  uint64
	}
	firsts := map[key]records.Number{}
	units, next = d.numbers(), d.numbers()
	for document := range d.end() {
		next.Set(document, undecided)
	}
	for document := range d.end() {
		k := key{d.First.At(document), d.Sides.At(document)}
		if _, known := firsts[k]; !known {
			firsts[k] = document
			if class := k.class; class != document {
				next.Set(document, next.At(class))
				next.Set(class, document)
			}
		}
		units.Set(document, firsts[k])
	}
	return units, next
}

// end returns the number after the last document's.
func (d *Documents) end() records.Number { return records.Number(d.First.Len()) }

func (d *Documents) numbers() *Numbers {
	return paged.New[records.Number, records.Number](d.Store, d.First.Len())
}

// apart reports whether sides forbid to remove one document for the other.
func (d *Documents) apart(i, j records.Number) bool {
	return d.Sides != nil && d.Sides.At(i) == d.Sides.At(j)
}

// Choose decides for all documents. A removed document is assigned to the most similar of the documents that it has an
// edge to and that were kept before it. Of equally similar ones it is assigned to the most preferred.
//
// Edge returns the n edges by number, and whether an edge counts. A heap of copies has millions of
// edges, so Choose holds none of them: it asks for each twice, and again when one of its documents is kept.
func Choose(d Documents, n int, edge func(i int) (e Edge, counts bool)) *paged.List[records.Number, Choice] {
	c := chooser{Documents: d, edge: edge, turn: d.numbers()}
	for i := range d.end() {
		c.turn.Set(d.Order.At(i), i)
	}
	c.units, c.next = d.units()
	c.decided, c.isDecided = paged.New[records.Number, Choice](d.Store, d.First.Len()), paged.New[records.Number, bool](d.Store, d.First.Len())
	c.kept = d.numbers()
	for i := range d.end() {
		c.decided.Set(i, Choice{Kept: undecided})
		c.kept.Set(i, undecided)
	}
	c.order(n)
	for i := range d.end() {
		c.choose(d.Order.At(i))
	}
	// A unit is known by its first document, so its choice stands before the others that it becomes.
	choices := c.decided
	for document := range d.end() {
		choice := choices.At(c.units.At(document))
		if d.apart(choice.Kept, document) {
			choice.Kept = document // its unit is kept
		}
		choices.Set(document, choice)
	}
	return choices
}

// chooser decides for one document after the other, in the order of preference. A document that is kept is offered to all
// that it has an edge to.
type chooser struct {
	Documents
	edge   func(i int) (e Edge, counts bool)
	turn   *Numbers                            // of each document, in the order of preference
	starts *paged.List[records.Number, uint32] // where in edges the edges of each class begin
	edges  *paged.List[uint32, uint32]         // numbers of the edges by which a class may be offered
	units  *Numbers
	next   *Numbers

	decided   *paged.List[records.Number, Choice] // of each unit, at its first document: the best offer until it is decided
	isDecided *paged.List[records.Number, bool]
	kept      *Numbers // the kept document that stands for each class, at its first document
}

// order puts each of the n edges to the class that it may offer to the other one. Without sides that is the class that is
// decided first.
func (c *chooser) order(n int) {
	first := c.numbers() // turn of each class
	for i := c.end(); i > 0; i-- {
		first.Set(c.First.At(c.Order.At(i-1)), i-1)
	}
	each := func(visit func(class records.Number, i int)) {
		for i := range n {
			e, counts := c.edge(i)
			if !counts {
				continue
			}
			a, b := first.At(e.A), first.At(e.B)
			if c.Sides != nil || a < b {
				visit(e.A, i)
			}
			if c.Sides != nil || b < a {
				visit(e.B, i)
			}
		}
	}
	c.starts = paged.New[records.Number, uint32](c.Store, c.First.Len()+2)
	each(func(class records.Number, _ int) { c.starts.Set(class+2, c.starts.At(class+2)+1) })
	sum := uint32(0)
	for i := range records.Number(c.starts.Len()) {
		sum += c.starts.At(i)
		c.starts.Set(i, sum)
	}
	c.edges = paged.New[uint32, uint32](c.Store, int(sum))
	each(func(class records.Number, i int) {
		at := c.starts.At(class + 1)
		c.edges.Set(at, uint32(i))
		c.starts.Set(class+1, at+1)
	})
}

// choose decides for a document, unless its unit is decided.
func (c *chooser) choose(document records.Number) {
	class, unit := c.First.At(document), c.units.At(document)
	if c.isDecided.At(unit) {
		return
	}
	c.isDecided.Set(unit, true)
	choice := c.decided.At(unit)
	// Only identical documents of another side can have been decided.
	if other := c.kept.At(class); other != undecided && (choice.Kept == undecided || choice.Similarity < 1 || c.turn.At(other) < c.turn.At(choice.Kept)) {
		choice = Choice{other, 1}
	}
	isKept := choice.Kept == undecided
	if isKept {
		choice = Choice{document, 1}
		c.kept.Set(class, document)
	}
	c.decided.Set(unit, choice)
	if isKept {
		c.offer(document)
	}
}

// offer offers a document that is kept to all units that it has an edge to. Of two equally similar documents the first one
// that is offered is the preferred one.
func (c *chooser) offer(document records.Number) {
	class := c.First.At(document)
	for i, end := c.starts.At(class), c.starts.At(class+1); i < end; i++ {
		e, _ := c.edge(int(c.edges.At(i)))
		for unit := e.A ^ e.B ^ class; unit != undecided; unit = c.after(unit) {
			best := c.decided.At(unit)
			if !c.isDecided.At(unit) && !c.apart(document, unit) && (best.Kept == undecided || e.Similarity > best.Similarity) {
				c.decided.Set(unit, Choice{document, e.Similarity})
			}
		}
	}
}

// after returns the next unit of the class, undecided after the last.
func (c *chooser) after(unit records.Number) records.Number {
	if c.next == nil {
		return undecided
	}
	return c.next.At(unit)
}

// Split says what a cluster is.
type Split string

const (
	// Component: documents joined by edges, directly or through others.
	Component Split = "component"
	// Star: a kept document and the documents that are removed for it.
	Star Split = "star"
)

// Splits lists both of them.
var Splits = []Split{Component, Star}

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
