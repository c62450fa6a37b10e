package clusters

import (
	"sort"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/schema/findings"
)

const (
	// leastTemplate is the least number of documents of a cluster that may be called a template.
	leastTemplate = 100
	// leastPart is the least number of documents in a part of a cluster that one pair joins to the rest.
	leastPart = 25
)

// addLargest notes the largest cluster, the first of those if there are several.
func (s *Shard) addLargest(o *findings.Findings) {
	largest, documents := records.Number(0), uint32(0)
	for first := range s.end() {
		if size := s.size.At(first); size > documents {
			largest, documents = first, size
		}
	}
	if documents == 0 {
		return
	}
	c := findings.LargeCluster{Name: s.name(largest), Documents: int64(documents), A: s.name(largest)}
	for i := range s.end() {
		if s.members.First(i) == largest && s.classes.of.At(i) != s.classes.of.At(largest) {
			c.B = s.name(i)
			break
		}
	}
	o.Largest.Add(c)
}

func (s *Shard) isNear(i records.Number, choice keep.Choice) bool {
	return choice.Kept != i && s.classes.of.At(i) != s.classes.of.At(choice.Kept)
}

// hasOtherTitle reports whether a page is removed and has another title than the one that stays for it.
func (s *Shard) hasOtherTitle(i records.Number, choice keep.Choice) bool {
	if choice.Kept == i {
		return false
	}
	title, other := s.members.Capture(i).Title, s.members.Capture(choice.Kept).Title
	return title != "" && other != "" && title != other
}

// addNear counts removed documents that are not identical to the one that stays for them, and removed pages that stay
// under another title.
func (s *Shard) addNear(o *findings.Findings) {
	var near []*findings.Worst[findings.NearPair]
	for i := range s.end() {
		choice := s.choice(i)
		near = near[:0]
		if s.isNear(i, choice) {
			if near = append(near, &o.Near); s.members.Size(i) < findings.ShortText {
				near = append(near, &o.NearShort)
			}
		}
		if len(near) > 0 {
			s.sample(o, i, choice.Kept)
		}
		if s.hasOtherTitle(i, choice) {
			near = append(near, &o.OtherTitle)
		}
		for _, worst := range near {
			pair := findings.NearPair{
				Similarity: choice.Similarity,
				Title:      s.members.Capture(i).Title,
				KeptTitle:  s.members.Capture(choice.Kept).Title,
			}
			if !worst.Takes(pair) {
				worst.Count++
				continue
			}
			pair.Removed, pair.Kept = s.name(i), s.name(choice.Kept)
			worst.Add(pair)
		}
	}
}

// sample adds a removed document, and the one that stays for it, to the sample of pairs whose texts are compared.
func (s *Shard) sample(o *findings.Findings, removed, kept records.Number) {
	pair := findings.SampledPair{Removed: uint64(s.members.Ref(removed)), Kept: uint64(s.members.Ref(kept))}
	// numbers of refs depend on the files of earlier runs, and their texts do not
	pair.RemovedHash, pair.KeptHash = xxh3.HashString(s.ref(removed)), xxh3.HashString(s.ref(kept))
	if o.Sample.Takes(pair) {
		pair.RemovedName, pair.KeptName = s.name(removed), s.name(kept)
		o.Sample.Add(pair)
	}
}

// doubt finds clusters that may hold documents which are no near-duplicates, and pairs that hold a cluster together.
// The shard must be decided. Least is the least similarity of an edge, from 0 to 1.
func (s *Shard) doubt(o *findings.Findings, least float64) {
	s.addLargest(o)
	if s.IsDropped() {
		return // nothing stays for another document
	}
	s.addNear(o)
	for cluster := range s.eachCluster {
		if cluster.size < leastTemplate {
			continue
		}
		c := s.cohesion(cluster)
		if mean := c.sum / float64(c.gone); c.gone > 0 && mean < (least+1)/2 {
			o.Templates.Add(findings.Template{
				Cluster:   s.name(s.members.First(cluster.document(0))),
				Documents: int64(cluster.size),
				Mean:      mean,
				Least:     c.least,
			})
		}
	}
	if s.rule.Split != keep.Component || s.hasVariants {
		return
	}
	for _, found := range s.bridges(leastPart) {
		e := s.edges.At(found.edge)
		o.Bridges.Add(findings.Bridge{
			Cluster:   s.name(found.first),
			Documents: int64(s.size.At(found.first)),
			Part:      int64(found.part),
			A:         s.name(e.A),
			B:         s.name(e.B),
		})
	}
}

// bridge is an edge without which a component falls into two parts.
type bridge struct {
	first records.Number // first document of the component
	edge  int            // number of the edge
	part  uint32         // documents in the smaller part
}

// component is a component of a shard whose clusters are components. Its documents, classes and edges are adjacent.
type component struct {
	*Shard
	first, end    records.Number // of its documents
	edge, edgeEnd int            // of its edges
}

// class returns the number of the class of a document among the classes of the component.
func (c *component) class(i records.Number) records.Number {
	return c.classes.of.At(i) - c.classes.of.At(c.first)
}

// hasGroup reports whether the component has an edge of a hot group, or a document with pairs that are not listed.
func (c *component) hasGroup() bool {
	for i := c.edge; i < c.edgeEnd; i++ {
		if c.edges.At(i).HotGroup() {
			return true
		}
	}
	for i := c.first; i < c.end; i++ {
		if c.members.PartlyListed(i) {
			return true
		}
	}
	return false
}

// bridges returns, for each component that has one, the bridge whose smaller part is the largest, if that has at least
// least documents. Components of dense groups are passed over: not all of their pairs were compared or listed, so few
// edges say nothing. The shard's clusters must be whole components.
func (s *Shard) bridges(least uint32) (found []bridge) {
	c := component{Shard: s}
	for ; c.first < s.end(); c.first, c.edge = c.end, c.edgeEnd {
		size := s.size.At(c.first)
		c.end = c.first + records.Number(size)
		c.edgeEnd = c.edge + sort.Search(s.edges.Len()-c.edge, func(i int) bool {
			return s.edges.At(c.edge+i).A >= c.end
		})
		if size >= 2*least && !c.hasGroup() {
			if b := c.bridge(); b.part >= least {
				found = append(found, b)
			}
		}
	}
	return found
}

// bridge returns the bridge of the component whose smaller part is the largest. Its part is 0 if there is no bridge. It
// takes a few passes over the edges, and lists of the classes.
//
// Classes of identical documents are the nodes. Some of the edges make a tree of all nodes. Each other edge makes a
// circle with the way in the tree between its ends, and no edge of a circle is a bridge. So the ways are contracted,
// and what is left of the tree are the bridges.
func (c *component) bridge() bridge {
	store := c.store.Beside()
	defer store.Close()
	t := newTree(c, store)
	merged, next := newForest(store, int(t.nodes)), uint32(0)
	for i := c.edge; i < c.edgeEnd; i++ {
		if next < uint32(t.edges.Len()) && t.edges.At(next) == uint32(i) {
			next++
			continue
		}
		e := c.edges.At(i)
		a, b := merged.find(t.place.At(c.class(e.A))), merged.find(t.place.At(c.class(e.B)))
		for a != b {
			if a < b {
				a, b = b, a
			}
			merged.union(a, t.parent.At(a))
			a = merged.find(a)
		}
	}
	best := bridge{first: c.first}
	all := t.documents.At(0)
	for node := records.Number(1); node < records.Number(t.nodes); node++ {
		if merged.find(node) != node {
			continue
		}
		below := t.documents.At(node)
		if part := min(below, all-below); part > best.part {
			best.edge, best.part = int(t.edgeAbove.At(node)), part
		}
	}
	return best
}

// tree is a tree of the classes of a component. Its nodes are numbered by their distance from the root, so a parent
// comes before its children, and the top of a part of the tree has the smallest number in it.
type tree struct {
	nodes     uint32
	edges     *paged.List[uint32, uint32]         // numbers of the edges in the tree, ascending
	place     *numbers                            // node of each class
	parent    *numbers                            // by node; the root is its own
	edgeAbove *paged.List[records.Number, uint32] // number of the edge to the parent
	documents *paged.List[records.Number, uint32] // documents in the node and below it
}

func newTree(c *component, store *paged.Store) *tree {
	n := int(c.classes.len() - c.classes.of.At(c.first))
	if c.end < c.Shard.end() {
		n = int(c.class(c.end)) // classes are numbered by their first documents
	}
	list := func(n int) *paged.List[records.Number, uint32] { return paged.New[records.Number, uint32](store, n) }
	t := &tree{
		nodes:     1,
		edges:     paged.New[uint32, uint32](store, n),
		place:     paged.New[records.Number, records.Number](store, n),
		parent:    paged.New[records.Number, records.Number](store, n),
		edgeAbove: list(n),
		documents: list(n),
	}
	joined, edges := newForest(store, n), uint32(0)
	starts := list(n + 2) // of the neighbours of each class, shifted by two
	for i := c.edge; i < c.edgeEnd; i++ {
		e := c.edges.At(i)
		a, b := c.class(e.A), c.class(e.B)
		if joined.find(a) == joined.find(b) {
			continue
		}
		joined.union(a, b)
		t.edges.Set(edges, uint32(i))
		edges++
		starts.Set(a+2, starts.At(a+2)+1)
		starts.Set(b+2, starts.At(b+2)+1)
	}
	t.edges.Cut(int(edges))
	sum := uint32(0)
	for i := range records.Number(n + 2) {
		sum += starts.At(i)
		starts.Set(i, sum)
	}
	around := paged.New[uint32, uint32](store, int(2*edges)) // edges of each class
	for k := range edges {
		i := t.edges.At(k)
		e := c.edges.At(int(i))
		for _, one := range []records.Number{c.class(e.A), c.class(e.B)} {
			around.Set(starts.At(one+1), i)
			starts.Set(one+1, starts.At(one+1)+1)
		}
	}
	t.grow(c, store, starts, around)
	return t
}

// grow numbers the nodes, given the edges of the tree around each class, and counts their documents.
func (t *tree) grow(c *component, store *paged.Store, starts *paged.List[records.Number, uint32],
	around *paged.List[uint32, uint32],
) {
	// classes in the order of nodes; the first one is 0
	order := paged.New[records.Number, records.Number](store, t.place.Len())
	t.edgeAbove.Set(0, ^uint32(0)) // no edge
	for node := records.Number(0); node < records.Number(t.nodes); node++ {
		own, above := order.At(node), t.edgeAbove.At(node)
		for k, end := starts.At(own), starts.At(own+1); k < end; k++ {
			i := around.At(k)
			if i == above {
				continue
			}
			e := c.edges.At(int(i))
			other, next := c.class(e.A)^c.class(e.B)^own, records.Number(t.nodes)
			t.place.Set(other, next)
			order.Set(next, other)
			t.parent.Set(next, node)
			t.edgeAbove.Set(next, i)
			t.nodes++
		}
	}
	for i := c.first; i < c.end; i++ {
		node := t.place.At(c.class(i))
		t.documents.Set(node, t.documents.At(node)+1)
	}
	for node := records.Number(t.nodes); node > 1; node-- {
		own := node - 1
		parent := t.parent.At(own)
		t.documents.Set(parent, t.documents.At(parent)+t.documents.At(own))
	}
}
