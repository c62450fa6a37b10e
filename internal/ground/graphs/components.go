package graphs

import (
	"mirrorbeam/internal/ground/docref"
)

// Node is the number of a document in a [Part], from 0.
type Node uint32

// Part is what one task saw of a graph: some of its nodes, each once, and a forest over them. The edges of the graph
// join the nodes of a tree.
type Part struct {
	Refs    []docref.Ref
	Weights []uint32
	Parents Forest[Node]
}

// Add adds a document, not yet joined to any other, and returns its node. It panics with [ErrFull] if the part
// has as many nodes as there are numbers.
func (p *Part) Add(ref docref.Ref, weight uint32) Node {
	node := Next[Node](len(p.Refs))
	p.Refs, p.Weights, p.Parents = append(p.Refs, ref), append(p.Weights, weight), append(p.Parents, node)
	return node
}
