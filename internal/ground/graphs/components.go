// Package graphs has what the stages need of graphs whose nodes are documents: numbers for nodes, disjoint sets of nodes,
// parts of a graph that many tasks see, connected components in places of bounded size, leaders that stand for
// similar sets, and a sort by integer keys.
package graphs

import (
	"errors"

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

// Forest is a set of trees over the nodes 0 to len-1. N is the type of the nodes. The entry of a node is its parent; a
// root is its own parent. The smallest node of a tree is always its root. So the roots depend on the unions only, not on
// their order. A node takes four bytes.
type Forest[N ~uint32] []N

// NewForest returns n nodes, each alone.
func NewForest[N ~uint32](n int) Forest[N] {
	f := make(Forest[N], n)
	for i := range f {
		f[i] = N(i)
	}
	return f
}

// Find returns the root of x and halves the path to it.
func (f Forest[N]) Find(x N) N {
	for f[x] != x {
		f[x] = f[f[x]]
		x = f[x]
	}
	return x
}

// Union joins the trees of a and b.
func (f Forest[N]) Union(a, b N) {
	a, b = f.Find(a), f.Find(b)
	if a < b {
		f[b] = a
	} else {
		f[a] = b
	}
}

// Flatten makes the root of each node its parent.
func (f Forest[N]) Flatten() {
	// A parent is smaller than its child, so its own entry is a root already.
	for i, parent := range f {
		f[i] = f[parent]
	}
}

// ErrFull is the fault of a task that has more items than numbers for them. [Next] and [Set.Add] panic with it: no
// number may stand for two items, and a task that has come so far cannot go on. Package work makes it the error of the task.
var ErrFull = errors.New("more items than there are numbers for them: cut the job into more splits or shards")

// Next returns the number of the next item if there are n already. The largest number of the type is never given: it
// stands for none.
func Next[N ~uint8 | ~uint16 | ~uint32](n int) N {
	if uint64(n) >= uint64(^N(0)) {
		panic(ErrFull)
	}
	return N(n)
}
