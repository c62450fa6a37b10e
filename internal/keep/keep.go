// Package keep decides which documents of a cluster are kept.
//
// A document is removed only if a verified edge joins it to one that is kept. So no document is removed through a chain
// of others, and a cluster may keep several documents. The kept documents are a maximal independent set of the
// similarity graph, chosen greedily in the order of preference.
package keep

import (
	"errors"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

// Edge joins two classes of identical documents that are similar.
type Edge struct {
	A, B records.Number
	// Similarity is from 0 to 1.
	Similarity float64
	// SparesA and SparesB say that the edge does not let this class be removed for the other one.
	SparesA, SparesB bool
}

// Choice is what becomes of a document. A document is kept if Kept is its own number. Otherwise it is removed, and Kept
// is the kept document to which it is assigned, at that similarity.
type Choice struct {
	Kept       records.Number
	Similarity float64
}

const (
	undecided = ^records.Number(0)
	// itself, as a choice of a unit, keeps each of its documents.
	itself = undecided - 1
)

// Documents are the documents of an output shard, with numbers from 0.
type Documents struct {
	// Store is where lists are held that go with the choice.
	Store *paged.Store
	Order *Numbers
	// Classes holds the class of identical documents of each document. There are Distinct classes, with numbers from 0.
	Classes  *Numbers
	Distinct records.Number
	// Sides holds the side of each document; nil: none. Documents of one side are not removed for each other.
	Sides *paged.List[records.Number, uint64]
}

// Numbers has a number for each document, or for each class.
type Numbers = paged.List[records.Number, records.Number]

// end returns the number after the last document's.
func (d *Documents) end() records.Number { return records.Number(d.Classes.Len()) }

// Choose decides for all documents by one rule: a document is removed if an edge joins it to a kept document that comes
// before it in the order, or if it is identical to one. It is assigned to the most similar of these, and of equally
// similar ones to the most preferred. The choices are put into a list that has room for all of them. Edge returns the n
// edges by number, and whether an edge counts. There may be millions, so Choose holds none of them: it asks for each
// twice, and again when one of its documents is kept.
func Choose(d Documents, choices *paged.List[records.Number, Choice], n int, edge func(i int) (e Edge, counts bool)) {
	c := chooser{Documents: d, edge: edge, units: d.Classes}
	units := int(d.Distinct)
	if d.Sides != nil {
		units = c.makeUnits()
	}
	c.best = paged.New[records.Number, Choice](d.Store, units)
	for unit := range records.Number(units) {
		c.best.Set(unit, Choice{Kept: undecided})
	}
	c.order(n)
	for i := range d.end() {
		document := d.Order.At(i)
		choices.Set(document, c.choose(document))
	}
}

// chooser decides by preference, one document after the other. A kept one is offered along its edges.
type chooser struct {
	Documents
	edge   func(i int) (e Edge, counts bool)
	starts *paged.List[records.Number, uint32] // where in edges the edges of each class begin
	edges  *paged.List[uint32, uint32]         // numbers of the edges by which a class may be offered

	units *Numbers // the unit of each document: identical documents of one side. Without sides a class is one unit.
	first *Numbers // the first unit of each class; nil without sides
	next  *Numbers // the next unit of the class of each unit, or undecided
	sides []uint64 // of each unit

	// best is, of each unit, the best offer so far. It may become better between one document of the unit and the next.
	best *paged.List[records.Number, Choice]
}

// makeUnits makes the units of documents that have sides, and returns how many there are.
func (c *chooser) makeUnits() int {
	type key struct {
		class records.Number
		side  uint64
	}
	numbers := map[key]records.Number{}
	list := func(n int) *Numbers { return paged.New[records.Number, records.Number](c.Store, n) }
	c.units, c.first, c.next = list(int(c.end())), list(int(c.Distinct)), list(int(c.end()))
	for class := range c.Distinct {
		c.first.Set(class, undecided)
	}
	for document := range c.end() {
		k := key{c.Classes.At(document), c.Sides.At(document)}
		unit, known := numbers[k]
		if !known {
			unit = records.Number(len(c.sides))
			numbers[k], c.sides = unit, append(c.sides, k.side)
			c.next.Set(unit, c.first.At(k.class))
			c.first.Set(k.class, unit)
		}
		c.units.Set(document, unit)
	}
	return len(c.sides)
}

// order puts each of the n edges to the classes that may offer a document to the other one: those with a document that
// is decided before the last one of the other.
func (c *chooser) order(n int) {
	first := paged.New[records.Number, records.Number](c.Store, int(c.Distinct))
	last := paged.New[records.Number, records.Number](c.Store, int(c.Distinct))
	for i := range c.end() {
		last.Set(c.Classes.At(c.Order.At(i)), i)
	}
	for i := c.end(); i > 0; i-- {
		first.Set(c.Classes.At(c.Order.At(i-1)), i-1)
	}
	each := func(visit func(class records.Number, i int)) {
		for i := range n {
			e, counts := c.edge(i)
			if counts && !e.SparesB && first.At(e.A) < last.At(e.B) {
				visit(e.A, i)
			}
			if counts && !e.SparesA && first.At(e.B) < last.At(e.A) {
				visit(e.B, i)
			}
		}
	}
	c.starts = paged.New[records.Number, uint32](c.Store, int(c.Distinct)+2)
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

func (c *chooser) choose(document records.Number) Choice {
	unit := c.units.At(document)
	choice := c.best.At(unit)
	switch choice.Kept {
	case undecided:
		choice = Choice{document, 1}
		if c.best.Set(unit, choice); c.Sides != nil {
			// No document of its side is removed for it, and no other is kept that could be offered.
			c.best.Set(unit, Choice{itself, 1})
		}
		c.offer(document, unit)
	case itself:
		choice.Kept = document
	}
	return choice
}

// offer offers a document that is kept to all units that it has an edge to, and to the units of identical documents. Of
// two equally similar documents the first one that is offered is the preferred one.
func (c *chooser) offer(document, own records.Number) {
	class := c.Classes.At(document)
	for i, end := c.starts.At(class), c.starts.At(class+1); i < end; i++ {
		e, _ := c.edge(int(c.edges.At(i)))
		c.offerTo(e.A^e.B^class, own, Choice{document, e.Similarity})
	}
	c.offerTo(class, own, Choice{document, 1})
}

// offerTo offers a document of a unit to the units of a class.
func (c *chooser) offerTo(class, own records.Number, offer Choice) {
	unit := class
	if c.Sides != nil {
		unit = c.first.At(class)
	}
	for unit != undecided {
		best := c.best.At(unit)
		isOther := c.Sides == nil || c.sides[unit] != c.sides[own]
		if isOther && (best.Kept == undecided || offer.Similarity > best.Similarity) {
			c.best.Set(unit, offer)
		}
		if c.Sides == nil {
			return
		}
		unit = c.next.At(unit)
	}
}

// Split says what a cluster is.
type Split string

const (
	// Component: documents joined by edges, directly or through others.
	Component Split = "component"
	// Star: a kept document and the documents that are removed for it.
	Star Split = "star"
)

var Splits = []Split{Component, Star}

// Drop says which documents of clusters are removed.
type Drop string

const (
	// Copies: documents that are similar to a kept one. Each cluster keeps one at least. An empty Drop means the same.
	Copies Drop = "copies"
	// Clusters: all documents of each cluster. The documents of a reference stay.
	Clusters Drop = "clusters"
	// Reference: the ones that are like a document of a reference.
	Reference Drop = "reference"
)

var Drops = []Drop{Copies, Clusters, Reference}

// Rule says what a cluster is, and what is removed of it.
type Rule struct {
	Split Split
	Drop  Drop
	// Contained is the least share of the shingles of a removed document that the one that is kept for it must have; 0
	// if that does not matter.
	Contained float64
	// Variants says whether variants are removed for each other.
	Variants variants.Rule
}

// Condition says when a document is removed that is similar to a kept one: always if it is empty. With "contained" all
// shingles of the document must be in the kept one, with "contained:0.95" at least that share of them.
type Condition string

// Contained returns the share, 0 for an empty condition.
func (c Condition) Contained() (share float64, err error) {
	name, given, isGiven := strings.Cut(string(c), ":")
	switch {
	case c == "":
		return 0, nil
	case !isGiven:
		given = "1"
	}
	share, err = strconv.ParseFloat(given, 64)
	if name != "contained" || err != nil || !(share > 0 && share <= 1) {
		return 0, errors.New("must be contained, or contained:SHARE with a share above 0 and at most 1")
	}
	return share, nil
}

// Prefers reports whether the rule asks which document of a cluster is preferred. If not, --keep decides nothing.
func (r Rule) Prefers() bool {
	return r.Drop != Reference && (r.Drop != Clusters || r.Split == Star)
}
