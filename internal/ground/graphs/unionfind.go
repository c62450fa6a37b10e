package graphs

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
