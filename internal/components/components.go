// Package components joins what many tasks saw of one graph into connected components, and packs these into places.
package components

import (
	"iter"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/unionfind"
)

// Node is the number of a document in a [Part], from 0.
type Node uint32

// Part is what one task saw of a graph: some of its nodes, each once, and a forest over them. The edges of the graph
// join the nodes of a tree.
type Part struct {
	Refs    []docref.Ref
	Weights []uint32
	Parents unionfind.Forest[Node]
}

// Add adds a document, not yet joined to any other, and returns its node.
func (p *Part) Add(ref docref.Ref, weight uint32) Node {
	node := Node(len(p.Refs))
	p.Refs, p.Weights, p.Parents = append(p.Refs, ref), append(p.Weights, weight), append(p.Parents, node)
	return node
}

// Rank is the number of a document in a [Graph], from 0, in document order.
type Rank uint32

// arrival is the number of a document in a [Graph], from 0, in the order in which the documents were added.
type arrival uint32

// Graph is the union of parts. Once it is finished, a document is known by its rank. The graph takes some 40 bytes a
// document, however many parts hold the document. The zero Graph is empty.
type Graph struct {
	nodes   numbering.Set[arrival]
	weights []uint32 // by arrival
	forest  unionfind.Forest[arrival]
	numbers []arrival // of the nodes of a part

	order []arrival // by rank
	ranks []Rank    // by arrival
	roots []Rank    // by rank: the smallest rank of the component
}

// Add adds a part. A document has the weight that its first part gives it.
func (g *Graph) Add(p Part) {
	g.numbers = g.numbers[:0]
	for node, ref := range p.Refs {
		number, isNew := g.nodes.Add(uint64(ref))
		if isNew {
			g.weights = append(g.weights, p.Weights[node])
			g.forest = append(g.forest, number)
		}
		g.numbers = append(g.numbers, number)
	}
	for node, parent := range p.Parents {
		g.forest.Union(g.numbers[node], g.numbers[parent])
	}
}

// Finish ranks the documents. No part can be added after it.
func (g *Graph) Finish() {
	n := g.Len()
	g.order = make([]arrival, n)
	for i := range g.order {
		g.order[i] = arrival(i)
	}
	g.order = radix.Sort(g.order, make([]arrival, n), func(number *arrival) uint64 { return g.nodes.Keys[*number] })
	g.ranks = make([]Rank, n)
	for rank, number := range g.order {
		g.ranks[number] = Rank(rank)
	}
	// Going up the ranks, the first document of a component is its root.
	const none = ^Rank(0)
	first := make([]Rank, n) // by arrival of the root in the forest
	for i := range first {
		first[i] = none
	}
	g.roots = make([]Rank, n)
	for rank, number := range g.order {
		root := g.forest.Find(number)
		if first[root] == none {
			first[root] = Rank(rank)
		}
		g.roots[rank] = first[root]
	}
	g.forest = nil
}

// Len returns the number of documents.
func (g *Graph) Len() int { return len(g.nodes.Keys) }

// Ref returns the ref of the document of that rank.
func (g *Graph) Ref(rank Rank) docref.Ref { return docref.Ref(g.nodes.Keys[g.order[rank]]) }

// Refs gives each rank and its ref, in ascending order.
func (g *Graph) Refs() iter.Seq2[Rank, docref.Ref] {
	return func(yield func(Rank, docref.Ref) bool) {
		for rank := range Rank(g.Len()) {
			if !yield(rank, g.Ref(rank)) {
				return
			}
		}
	}
}

// Rank returns the rank of a document, which must be in the graph.
func (g *Graph) Rank(ref docref.Ref) Rank {
	number, _ := g.nodes.Find(uint64(ref))
	return g.ranks[number]
}

// Joined reports whether two documents are in the graph, and in one component.
func (g *Graph) Joined(a, b docref.Ref) bool {
	x, hasA := g.nodes.Find(uint64(a))
	y, hasB := g.nodes.Find(uint64(b))
	return hasA && hasB && g.roots[g.ranks[x]] == g.roots[g.ranks[y]]
}

// Roots returns, by rank, the smallest rank of each document's component. So a component is known by its first document.
func (g *Graph) Roots() []Rank { return g.roots }

// weight returns the weight of the document of that rank.
func (g *Graph) weight(rank Rank) int64 { return int64(g.weights[g.order[rank]]) }
