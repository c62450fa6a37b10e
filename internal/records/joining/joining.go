// Package joining finds the connected components of a graph of documents within a budget of memory. They come in the
// order of their first documents.
//
// A graph comes in parts, which many tasks have made. Each part is a forest already. If all documents fit into the
// budget, [Label] sorts their refs and joins them in one union-find over the ranks.
//
// Otherwise it cuts the refs into ranges of documents that fit, keeps all else in run files of its own, and goes
// through the ranges a fixed number of times (after Sibeyn's contraction of nodes in descending order):
//
//  1. From the last range to the first, it joins the documents of a range by the edges within the range. Of the
//     documents in earlier ranges to which a group is now joined, the first becomes the parent of the group. An edge from
//     there to each other one replaces the edge to the group. So a range has no edges but from its groups to their
//     parents, and the number of edges never grows.
//  2. From the first range to the last, each group asks its parent for the first document of the component. The parent
//     knows it, since all earlier ranges do.
//  3. Each range sends its share of each component to the range of the component's first document, which places the
//     component and answers.
//  4. With these answers the documents of a range get their labels, and so do all nodes of parts that stand for them.
//
// Each edge moves down at most once for each range, so the work is bounded, and there is no loop that has to converge.
package joining

import (
	"math"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
)

// Graph is a graph of documents. Many tasks have made its parts.
type Graph struct {
	// Parts visits the parts with their numbers. It is called several times, and gives the same parts in the same order
	// each time. A part is valid until visit returns.
	Parts func(visit func(number int, part graphs.Part) error) error
	// IsUniform says that each document weighs 1, whatever its part says.
	IsUniform bool
	// OnlyDocuments says that the labeller does not ask for nodes.
	OnlyDocuments bool
	// Bytes is about how much memory the documents may take.
	Bytes int64
	// Folder is where documents wait that do not fit.
	Folder string
	// Stopped, if it is not nil, returns an error when nobody wants the labels any more. The work then ends with it.
	Stopped func() error
}

// few is after how many documents the work looks whether it is wanted. They take some tenths of a second at most.
const few = 1 << 20

// stopped returns the error of Stopped, if it is time to ask: at every few-th document or component.
func (g *Graph) stopped(i int) error {
	if g.Stopped == nil || i%few != 0 {
		return nil
	}
	return g.Stopped()
}

// Component is a connected component of a graph.
type Component struct {
	First, Last docref.Ref
	Weight      int64
	Value       uint64
}

// Document is a document of a graph.
type Document struct {
	Ref docref.Ref
	// Before is the weight of the earlier documents of its component.
	Before int64
	// Component is the document's. It is valid during the call.
	Component *Component
}

// Labeller labels the documents of a graph. L is the type of the labels. An error of its methods ends the work.
type Labeller[L any] interface {
	// Count takes in each component once, in the order of first documents, before any of them is placed.
	Count(Component)
	// Place returns the value of a component. It is called for each component, in the order of first documents.
	Place(Component) (value uint64, err error)
	// Document returns the label of a document. It is called in ascending order, when all components are placed.
	Document(Document) (L, error)
	// Node takes in the label of a node of a part, or of the origin of the node. The nodes come in any order.
	Node(part int, node graphs.Node, label L) error
}

// Label labels all documents of a graph. Only the order of nodes depends on the budget.
func Label[L any](g *Graph, labeller Labeller[L]) error {
	found, err := g.survey()
	if err != nil {
		return err
	}
	if found.fits {
		return labelWhole(g, found.refs, labeller)
	}
	r := newRanges(g, found)
	defer r.files.close() // a file that stays is removed with the job's folder
	return labelRanges(r, labeller)
}

type placed struct {
	Component
	before int64
}

// labelAll returns the labels of documents in ascending order. IndexOf returns the index of a document's component.
func labelAll[L any, I ~uint32](g *Graph, refs []docref.Ref, weights []uint32, indexOf []I, all []placed,
	labeller Labeller[L],
) ([]L, error) {
	labels := make([]L, len(refs))
	for i, ref := range refs {
		if err := g.stopped(i); err != nil {
			return nil, err
		}
		c := &all[indexOf[i]]
		label, err := labeller.Document(Document{Ref: ref, Before: c.before, Component: &c.Component})
		if err != nil {
			return nil, err
		}
		labels[i] = label
		c.before += int64(weights[i])
	}
	return labels, nil
}

// wholeBytes is the memory that a document takes where all are in memory: 16 bytes for its ref, its weight and the
// union-find, and as much again or less for its label and for its share of a component.
const wholeBytes = 48

// mostDocuments is the largest number of documents that ranks can tell apart.
const mostDocuments = math.MaxUint32

type found struct {
	fits  bool
	refs  []docref.Ref // all documents, if they fit
	nodes int64        // number of nodes of all parts
	sample
}

// survey goes through the graph once. It finds out whether all documents fit.
func (g *Graph) survey() (found, error) {
	var all collector
	f := found{fits: true, sample: sample{step: 1}}
	most := int(min(g.Bytes/wholeBytes, mostDocuments))
	err := g.Parts(func(_ int, part graphs.Part) error {
		f.nodes += int64(len(part.Refs))
		f.add(part.Refs)
		if f.fits {
			all.add(part.Refs...)
			if f.fits = len(all.refs) <= most; !f.fits {
				all = collector{}
			}
		}
		return nil
	})
	if f.fits {
		f.refs = all.finish()
		f.fits = len(f.refs) <= most
	}
	return f, err
}

func labelWhole[L any](g *Graph, refs []docref.Ref, labeller Labeller[L]) error {
	forest, weights := graphs.NewForest[rank](len(refs)), slices.Repeat([]uint32{1}, len(refs))
	var finder finder
	err := g.Parts(func(_ int, part graphs.Part) error {
		ranks := finder.ranks(refs, part.Refs)
		for node, parent := range part.Parents {
			forest.Union(ranks[node], ranks[parent])
		}
		if !g.IsUniform {
			for node, weight := range part.Weights {
				weights[ranks[node]] = weight
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	all, err := g.componentsOf(forest, refs, weights)
	if err != nil {
		return err
	}
	for i := range all {
		labeller.Count(all[i].Component)
	}
	for i := range all {
		if err := g.stopped(i); err != nil {
			return err
		}
		if all[i].Value, err = labeller.Place(all[i].Component); err != nil {
			return err
		}
	}
	labels, err := labelAll(g, refs, weights, forest, all, labeller)
	if err != nil || g.OnlyDocuments {
		return err
	}
	return g.Parts(func(number int, part graphs.Part) error {
		for node, rank := range finder.ranks(refs, part.Refs) {
			if of, is := part.Origin(number, node); is {
				if err := labeller.Node(int(of.Part), of.Node, labels[rank]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// componentsOf returns the components of a forest in the order of first documents. It puts the index of each document's
// component in the place of its parent.
func (g *Graph) componentsOf(forest graphs.Forest[rank], refs []docref.Ref, weights []uint32) ([]placed, error) {
	forest.Flatten()
	count := 0
	for i, root := range forest {
		if root == rank(i) {
			count++
		}
	}
	all := make([]placed, 0, count)
	for i, root := range forest {
		if err := g.stopped(i); err != nil {
			return nil, err
		}
		// The root of a tree comes first, so its entry is an index already.
		if root == rank(i) {
			forest[i] = rank(len(all))
			all = append(all, placed{Component: Component{First: refs[i]}})
		} else {
			forest[i] = forest[root]
		}
		c := &all[forest[i]]
		c.Last = refs[i]
		c.Weight += int64(weights[i])
	}
	return slices.Clip(all), nil
}
