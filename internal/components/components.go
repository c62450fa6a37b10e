// Package components joins what many tasks saw of one graph into connected
// components.
package components

import (
	"mirrorbeam/internal/docref"
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

// Graph is the union of parts. A node is known by its rank: its place among
// all refs in ascending order.
type Graph struct {
	// Refs and Weights belong to the nodes by rank; a node has the weight that
	// its parts give it.
	Refs    []docref.Ref
	Weights []uint32
	// Roots gives for each rank the smallest rank of its component, so a
	// component is known by its first document.
	Roots unionfind.Forest
	// Ranks gives for each part the ranks of its nodes.
	Ranks [][]uint32
}

// Join unites the parts. It takes some 30 bytes a node of a part and linear
// time.
func Join(parts []Part) *Graph {
	type node struct {
		ref   docref.Ref
		entry uint32
	}
	total := 0
	for _, p := range parts {
		total += len(p.Refs)
	}
	nodes := make([]node, 0, total)
	weights := make([]uint32, 0, total)
	for _, p := range parts {
		for i, ref := range p.Refs {
			nodes = append(nodes, node{ref, uint32(len(nodes))})
			weights = append(weights, p.Weights[i])
		}
	}
	nodes = radix.Sort(nodes, make([]node, total), func(n *node) uint64 { return uint64(n.ref) })

	g := &Graph{Ranks: make([][]uint32, len(parts))}
	ranks := make([]uint32, total)
	for i, n := range nodes {
		if i == 0 || n.ref != nodes[i-1].ref {
			g.Refs = append(g.Refs, n.ref)
			g.Weights = append(g.Weights, weights[n.entry])
		}
		ranks[n.entry] = uint32(len(g.Refs) - 1)
	}
	g.Roots = unionfind.New(len(g.Refs))
	for i, p := range parts {
		n := len(p.Refs)
		g.Ranks[i], ranks = ranks[:n:n], ranks[n:]
		for node, parent := range p.Parents {
			g.Roots.Union(g.Ranks[i][node], g.Ranks[i][parent])
		}
	}
	g.Roots.Flatten()
	return g
}

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

// All calls visit with every place that the node is needed at.
func (p Place) All(visit func(place int)) {
	for block := range p.Blocks {
		visit(p.Of(Place{First: p.First, Block: block}))
	}
}

// Places packs components, in the order of their first documents, into places
// of at most about capacity, in units of weight. It returns the place of every
// rank and the number of places.
func (g *Graph) Places(capacity int64) ([]Place, int) {
	const maxBlocks = 1 << 15
	total := make([]int64, len(g.Refs))
	for rank, root := range g.Roots {
		total[root] += int64(g.Weights[rank])
	}
	places := make([]Place, len(g.Refs))
	filled := make([]int64, len(g.Refs)) // of a component that is cut: the weight of its nodes so far
	next, open, used := uint32(0), -1, int64(0)
	for rank, root := range g.Roots {
		weight := total[root]
		if weight > capacity {
			// Two blocks meet at a place, so each gets half of it.
			half := max(capacity/2, weight/(maxBlocks-1)+1)
			if int(root) == rank {
				blocks := uint32(weight/half + 1)
				places[rank] = Place{First: next, Blocks: uint16(blocks)}
				next += blocks * (blocks + 1) / 2
			} else {
				places[rank] = places[root]
				places[rank].Block = uint16(filled[root] / half)
			}
			filled[root] += int64(g.Weights[rank])
			continue
		}
		if int(root) == rank {
			if open < 0 || used+weight > capacity {
				open, used = int(next), 0
				next++
			}
			used += weight
			places[rank] = Place{First: uint32(open), Blocks: 1}
		} else {
			places[rank] = places[root]
		}
	}
	return places, int(next)
}
