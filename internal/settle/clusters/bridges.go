package clusters

import (
	"sort"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
)

// bridge is an edge without which a component falls into two parts.
type bridge struct {
	first records.Number // first document of the component
	edge  int            // number of the edge
	part  uint32         // documents in the smaller part
}

// bridges returns, for each component that has one, the bridge whose smaller part is the largest, if that has at least
// least documents. Components of dense groups are passed over: not all of their pairs were compared or listed, so few
// edges say nothing. The shard's clusters must be whole components.
func (s *Shard) bridges(least uint32) (found []bridge) {
	edges := s.edges
	for first := records.Number(0); first < s.end(); {
		end := first + records.Number(s.size[first])
		// Documents and edges are ordered by component.
		n := sort.Search(len(edges), func(i int) bool { return edges[i].A >= end })
		of := edges[:n]
		from := len(s.edges) - len(edges)
		edges = edges[n:]
		if s.size[first] >= 2*least && !hasHeap(of) && !s.hasPartlyListed(first, end) {
			if b := s.bridgeOf(first, end, of); b.part >= least {
				b.first = first
				b.edge += from
				found = append(found, b)
			}
		}
		first = end
	}
	return found
}

// hasHeap reports whether one of the edges joins a document of a heap to a leader.
func hasHeap(edges []records.Edge[records.Number]) bool {
	for _, e := range edges {
		if e.Heap() {
			return true
		}
	}
	return false
}

// hasPartlyListed reports whether one of the documents from first to end has pairs that are not listed.
func (s *Shard) hasPartlyListed(first, end records.Number) bool {
	for i := first; i < end; i++ {
		if s.members.PartlyListed(i) {
			return true
		}
	}
	return false
}

// bridgeOf returns the bridge of the component of the documents from first to end whose smaller part is the largest. Its
// part is 0 if there is no bridge. It takes a few passes over the edges, and memory for each document.
//
// Classes of identical documents are the nodes. Some of the edges make a tree of all nodes. Each other edge makes a
// circle with the way in the tree between its ends, and no edge of a circle is a bridge. So the ways are contracted, and
// what is left of the tree are the bridges.
func (s *Shard) bridgeOf(first, end records.Number, edges []records.Edge[records.Number]) (best bridge) {
	t := newTree(s, first, end, edges)
	merged := graphs.NewForest[uint32](len(t.parent))
	rest := t.edges
	for i, e := range edges {
		if len(rest) > 0 && rest[0] == uint32(i) {
			rest = rest[1:]
			continue
		}
		a, b := merged.Find(t.place[s.classes.first(e.A)-first]), merged.Find(t.place[s.classes.first(e.B)-first])
		for a != b {
			if a < b {
				a, b = b, a
			}
			merged.Union(a, t.parent[a])
			a = merged.Find(a)
		}
	}
	all := t.documents[0]
	for node := 1; node < len(t.parent); node++ {
		if merged.Find(uint32(node)) != uint32(node) {
			continue
		}
		if part := min(t.documents[node], all-t.documents[node]); part > best.part {
			best = bridge{edge: int(t.edgeAbove[node]), part: part}
		}
	}
	return best
}

// tree is a tree of the classes of a component. Its nodes are numbered by their distance from the root, so a parent
// comes before its children, and the top of a part of the tree has the smallest number in it.
type tree struct {
	edges     []uint32 // numbers of the edges in the tree, ascending
	place     []uint32 // node of each class, by the number of its first document, counted from the first of the component
	parent    []uint32 // by node; the root is its own
	edgeAbove []uint32 // number of the edge to the parent
	documents []uint32 // documents in the node and below it
}

// newTree makes a tree of the edges of a component.
func newTree(s *Shard, first, end records.Number, edges []records.Edge[records.Number]) *tree {
	n := int(end - first)
	t := &tree{place: make([]uint32, n)}
	joined := graphs.NewForest[uint32](n)
	starts := make([]uint32, n+2) // of the neighbours of each class, shifted by two
	class := func(i records.Number) uint32 { return uint32(s.classes.first(i) - first) }
	for i, e := range edges {
		a, b := class(e.A), class(e.B)
		if joined.Find(a) == joined.Find(b) {
			continue
		}
		joined.Union(a, b)
		t.edges = append(t.edges, uint32(i))
		starts[a+2]++
		starts[b+2]++
	}
	for i := 2; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	around := make([]uint32, 2*len(t.edges)) // edges of each class
	for _, i := range t.edges {
		for _, one := range []uint32{class(edges[i].A), class(edges[i].B)} {
			around[starts[one+1]] = i
			starts[one+1]++
		}
	}
	order := make([]uint32, 1, len(t.edges)+1) // classes in the order of nodes; the first one is 0
	t.parent, t.edgeAbove = make([]uint32, 1, len(t.edges)+1), make([]uint32, 1, len(t.edges)+1)
	t.edgeAbove[0] = ^uint32(0) // no edge
	for node := 0; node < len(order); node++ {
		own := order[node]
		for _, i := range around[starts[own]:starts[own+1]] {
			if i == t.edgeAbove[node] {
				continue
			}
			other := class(edges[i].A) ^ class(edges[i].B) ^ own
			t.place[other] = uint32(len(order))
			order = append(order, other)
			t.parent, t.edgeAbove = append(t.parent, uint32(node)), append(t.edgeAbove, i)
		}
	}
	t.documents = make([]uint32, len(order))
	for i := first; i < end; i++ {
		t.documents[t.place[class(i)]]++
	}
	for node := len(order) - 1; node > 0; node-- {
		t.documents[t.parent[node]] += t.documents[node]
	}
	return t
}
