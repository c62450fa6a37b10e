// Package unionfind holds disjoint sets of small integers.
package unionfind

// Forest is a set of trees over the nodes 0 to len-1: Forest[i] is the parent
// of i, a root is its own parent. The root of a tree is always its smallest
// node, so the forest that a set of unions leads to has the same roots in
// whatever order they are made. Four bytes a node.
type Forest []uint32

// New returns n nodes, each alone.
func New(n int) Forest {
	f := make(Forest, n)
	for i := range f {
		f[i] = uint32(i)
	}
	return f
}

// Find returns the root of x and halves the path to it.
func (f Forest) Find(x uint32) uint32 {
	for f[x] != x {
		f[x] = f[f[x]]
		x = f[x]
	}
	return x
}

// Union joins the trees of a and b.
func (f Forest) Union(a, b uint32) {
	a, b = f.Find(a), f.Find(b)
	if a < b {
		f[b] = a
	} else {
		f[a] = b
	}
}

// Flatten makes every node point at its root.
func (f Forest) Flatten() {
	// A parent is never larger than its child, so it is flat already.
	for i, parent := range f {
		f[i] = f[parent]
	}
}
