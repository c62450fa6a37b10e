// Package components joins what many tasks saw of one graph into connected
// components.
package components

import (
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/unionfind"
)

// Part is what one task saw of a graph: some of its nodes, each once, and a
// forest over them whose trees are joined by edges of the graph.
type Part struct {
	Refs    []docref.Ref
	Weights []uint32
	Parents unionfind.Forest
}

// Graph is the union of parts. Once it is finished, a node is known by its
// rank: its place among all refs in ascending order. It takes some 40 bytes a
// node, however many parts hold it. The zero Graph is empty.
type Graph struct {
	nodes   numbering.Set
	weights []uint32 // by number
	forest  unionfind.Forest
	numbers []uint32 // of the nodes of a part

	order []uint32 // numbers by rank
	ranks []uint32 // ranks by number
	roots []uint32 // by rank: the smallest rank of the component
}

// Add adds a part. A node has the weight that its parts give it.
func (g *Graph) Add(p Part) {
	g.numbers = g.numbers[:0]
	for i, ref := range p.Refs {
		number, isNew := g.nodes.Add(uint64(ref))
		if isNew {
			g.weights = append(g.weights, p.Weights[i])
			g.forest = append(g.forest, number)
		}
		g.numbers = append(g.numbers, number)
	}
	for node, parent := range p.Parents {
		g.forest.Union(g.numbers[node], g.numbers[parent])
	}
}

// Finish ranks the nodes. No part can be added after it.
func (g *Graph) Finish() {
	n := g.Len()
	g.order = make([]uint32, n)
	for i := range g.order {
		g.order[i] = uint32(i)
	}
	g.ranks = make([]uint32, n)
	sorted := radix.Sort(g.order, g.ranks, func(number *uint32) uint64 { return g.nodes.Keys[*number] })
	if n > 0 && &sorted[0] != &g.order[0] {
		g.order, g.ranks = g.ranks, g.order
	}
	for rank, number := range g.order {
		g.ranks[number] = uint32(rank)
	}
	// Going up the ranks, the first node of a component is its root.
	const none = ^uint32(0)
	first := make([]uint32, n) // by number of the root in the forest
	for i := range first {
		first[i] = none
	}
	g.roots = make([]uint32, n)
	for rank, number := range g.order {
		root := g.forest.Find(number)
		if first[root] == none {
			first[root] = uint32(rank)
		}
		g.roots[rank] = first[root]
	}
	g.forest = nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes.Keys) }

// Ref returns the ref of the node of that rank.
func (g *Graph) Ref(rank int) docref.Ref { return docref.Ref(g.nodes.Keys[g.order[rank]]) }

// Rank returns the rank of a node, which must be in the graph.
func (g *Graph) Rank(ref docref.Ref) uint32 {
	number, _ := g.nodes.Find(uint64(ref))
	return g.ranks[number]
}

// Joined reports whether two nodes are in the graph, and in one component.
func (g *Graph) Joined(a, b docref.Ref) bool {
	x, hasA := g.nodes.Find(uint64(a))
	y, hasB := g.nodes.Find(uint64(b))
	return hasA && hasB && g.roots[g.ranks[x]] == g.roots[g.ranks[y]]
}

// Roots returns for each rank the smallest rank of its component, so that a
// component is known by its first document.
func (g *Graph) Roots() []uint32 { return g.roots }

// weight returns the weight of the node of that rank.
func (g *Graph) weight(rank int) int64 { return int64(g.weights[g.order[rank]]) }

// Place says where a node's component is worked on. A component of more than a
// place can hold is cut into blocks, and every pair of blocks has a place of its
// own.
type Place struct {
	First  uint32 // the place of the component, or the first of its places
	Blocks uint16 // into how many blocks the component is cut; 1: not cut
	Block  uint16 // the node's block
}

// Of returns the place where two nodes of one component meet.
func (p Place) Of(other Place) int {
	low, high := int(min(p.Block, other.Block)), int(max(p.Block, other.Block))
	return int(p.First) + high*(high+1)/2 + low
}

// maxBlocks bounds the blocks of a component, and with them its places.
const maxBlocks = 1 << 15

// Places packs components, in the order of their first documents, into places
// of at most about capacity, in units of weight. It returns the place of every
// rank and the number of places.
func (g *Graph) Places(capacity int64) ([]Place, int) {
	load := make([]int64, g.Len()) // of a component, at its root
	for rank, root := range g.roots {
		load[root] += g.weight(rank)
	}
	places := make([]Place, g.Len())
	next, open, used := uint32(0), uint32(0), capacity
	for rank, root := range g.roots {
		if int(root) != rank {
			places[rank].First, places[rank].Blocks = places[root].First, places[root].Blocks
			continue
		}
		if blocks := load[rank] / blockCapacity(load[rank], capacity); load[rank] > capacity {
			places[rank] = Place{First: next, Blocks: uint16(blocks + 1)}
			next += uint32((blocks + 1) * (blocks + 2) / 2)
			continue
		}
		if used+load[rank] > capacity {
			open, used = next, 0
			next++
		}
		used += load[rank]
		places[rank] = Place{First: open, Blocks: 1}
	}
	g.cut(places, load, capacity)
	return places, int(next)
}

// cut deals the nodes of components with several blocks to them.
func (g *Graph) cut(places []Place, load []int64, capacity int64) {
	filled := map[uint32]int64{}
	for rank, root := range g.roots {
		if places[rank].Blocks > 1 {
			places[rank].Block = uint16(filled[root] / blockCapacity(load[root], capacity))
			filled[root] += g.weight(rank)
		}
	}
}

// blockCapacity is what a block of a component of that weight holds: half of a
// place, as two blocks meet in one. Since each node is needed at as many places
// as there are blocks, those of a very large component are up to four times that.
func blockCapacity(weight, capacity int64) int64 {
	return max(capacity/2, min(2*capacity, weight/8), weight/(maxBlocks-1)+1)
}
