package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

// Step is a row of pairs.
type Step struct {
	A string `json:"a"`
	B string `json:"b"`
	// Score is the similarity or, where fingerprints were compared, the number of bits in which they differ.
	Score float64 `json:"score"`
	// Exact is false if the score is an estimate.
	Exact     bool `json:"exact"`
	Identical bool `json:"identical,omitempty"`
	// Variant says that the row does not put its documents into one cluster.
	Variant bool `json:"variant,omitempty"`
}

// Path leads from one document to another along rows of pairs. Of all such paths it is one whose weakest row is the
// strongest, and of these one with the fewest rows.
type Path struct {
	Steps []Step `json:"steps"`
	// Weakest is the step that the path depends on most.
	Weakest int `json:"weakest"`
}

// members are the documents among which paths are looked for.
type members struct {
	// places are the numbers of documents by their names, id and ref. With isOpen any document gets one. The two
	// documents are 0 and 1.
	places map[string]uint32
	// names are what rows of pairs call the documents, or their ids.
	names  []string
	isOpen bool
	kept   map[string]uint32 // by cluster: the only kept document, several if there are more
	edges  []edge
}

// several stands for more than one kept document.
const several = math.MaxUint32

type edge struct {
	a, b      uint32
	strength  float64 // the more, the more alike
	exact     bool
	identical bool
}

// mostEdges bounds the rows that are held if nobody knows which belong to the documents.
const mostEdges = 4 << 20

// isStar reports whether a cluster is a kept document with what is like it.
func (x *explainer) isStar() bool { return x.config.Split == keep.Star }

func (x *explainer) findMembers(ctx context.Context) error {
	m := &x.members
	m.places, m.kept = map[string]uint32{}, map[string]uint32{}
	m.add(x.A.ID, x.A.Ref, x.A.Given)
	m.add(x.B.ID, x.B.Ref, x.B.Given)
	m.names[0], m.names[1] = x.A.Name(), x.B.Name()
	m.isOpen = !x.folder.Has(output.Clusters) && x.scorer.HasClusters
	seen := ""
	for _, d := range []*Document{&x.A, &x.B} {
		if d.Cluster == "" || d.Cluster == seen {
			continue
		}
		seen = d.Cluster
		for row, err := range x.folder.ClusterRows(ctx, d.Cluster) {
			if err != nil {
				return err
			}
			number, known := m.places[row.Ref]
			if !known {
				number = m.add(row.ID, row.Ref)
			}
			if row.Kept {
				if _, hasOne := m.kept[d.Cluster]; hasOne {
					number = several
				}
				m.kept[d.Cluster] = number
			}
		}
	}
	return nil
}

// add adds a document, given its names. Rows use one of them, and none that another document has too.
func (m *members) add(names ...string) (number uint32) {
	number = uint32(len(m.names))
	m.names = append(m.names, names[0])
	for _, name := range names {
		if _, known := m.places[name]; !known && name != "" {
			m.places[name] = number
		}
	}
	return number
}

func (m *members) place(name string) (number uint32, known bool) {
	if number, known = m.places[name]; known {
		m.names[number] = name
	} else if m.isOpen {
		number, known = m.add(name), true
	}
	return number, known
}

func (m *members) onlyKept(cluster string) string {
	if number, known := m.kept[cluster]; known && number != several {
		return m.names[number]
	}
	return ""
}

func (x *explainer) findPairs(ctx context.Context) error {
	switch {
	case !x.folder.Has(output.Pairs):
		x.note(
			"The run has written no pairs, so the rows that join documents are not known: " +
				"run it with --emit clusters,pairs.")
		return nil
	case x.folder.Has(output.Clusters) && !x.isStar() && !x.config.Variants.Keeps() &&
		(x.A.Cluster == "" || x.B.Cluster == ""):
		x.scanned = true // a row would have put both into clusters
		return nil
	}
	m := &x.members
	for row, err := range finished.Rows[output.Pair](ctx, x.folder, output.Pairs) {
		if err != nil {
			return err
		}
		a, hasA := m.place(row.A)
		b, hasB := m.place(row.B)
		if !hasA || !hasB {
			continue
		}
		one := edge{a: a, b: b, strength: x.strengthOf(&row), exact: row.Exact, identical: row.Identical}
		if a+b == 1 { // the first two numbers
			x.Row = x.step(one, row.A, row.B)
			x.Row.Variant = row.Variant
		}
		if row.Variant {
			continue
		}
		if m.edges = append(m.edges, one); m.isOpen && len(m.edges) == mostEdges {
			x.note(
				"The path was not searched, because there are too many pairs and no clusters: " +
					"run the job with --emit clusters,pairs.")
			return nil
		}
	}
	x.scanned = true
	for i, d := range []*Document{&x.A, &x.B} {
		if d.name = m.names[i]; d.Given == d.ID && d.name == d.Ref {
			x.note("Other documents of the input have the id %s, too. This one is in a cluster.", d.ID)
		}
	}
	if x.scorer.HasClusters {
		x.Path = x.path()
	}
	return nil
}

func (x *explainer) strengthOf(row *output.Pair) float64 {
	switch {
	case x.scorer.IsDistance:
		return -float64(row.Hamming)
	case !x.scorer.HasClusters:
		return max(row.ContainmentA, row.ContainmentB)
	}
	return row.Jaccard
}

func (x *explainer) step(e edge, from, to string) *Step {
	return &Step{A: from, B: to, Score: math.Abs(e.strength), Exact: e.exact, Identical: e.identical}
}

// path returns the strongest path from the first document to the second, nil if there is none.
func (x *explainer) path() *Path {
	m := &x.members
	slices.SortStableFunc(m.edges, func(e, f edge) int { return cmp.Compare(f.strength, e.strength) })
	trees := graphs.NewForest[uint32](len(m.names))
	enough := 0
	for enough < len(m.edges) && trees.Find(0) != trees.Find(1) {
		trees.Union(m.edges[enough].a, m.edges[enough].b)
		enough++
	}
	if trees.Find(0) != trees.Find(1) {
		return nil
	}
	for enough < len(m.edges) && m.edges[enough].strength == m.edges[enough-1].strength {
		enough++ // as strong as the weakest, and perhaps shorter
	}
	p := &Path{}
	at, weakest := uint32(0), math.Inf(1)
	for i, e := range shortest(m.edges[:enough], len(m.names)) {
		to := e.a + e.b - at
		p.Steps = append(p.Steps, *x.step(e, m.names[at], m.names[to]))
		if e.strength < weakest {
			weakest, p.Weakest = e.strength, i
		}
		at = to
	}
	return p
}

// shortest returns the fewest edges that lead from node 0 to node 1, which are joined.
func shortest(edges []edge, nodes int) []edge {
	begins := make([]uint32, nodes+1)
	for _, e := range edges {
		begins[e.a]++
		begins[e.b]++
	}
	sum := uint32(0)
	for i, n := range begins {
		begins[i] = sum
		sum += n
	}
	around := make([]uint32, sum) // edges of each node, one node after the other
	next := slices.Clone(begins)
	for i, e := range edges {
		for _, node := range []uint32{e.a, e.b} {
			around[next[node]] = uint32(i)
			next[node]++
		}
	}
	const unseen = math.MaxUint32
	by := make([]uint32, nodes) // the edge by which a node was reached, from node 1
	for i := range by {
		by[i] = unseen
	}
	queue := []uint32{1}
	for by[0] == unseen && len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, i := range around[begins[node]:begins[node+1]] {
			to := edges[i].a + edges[i].b - node
			if to != 1 && by[to] == unseen {
				by[to] = i
				queue = append(queue, to)
			}
		}
	}
	var path []edge
	for node := uint32(0); node != 1; {
		e := edges[by[node]]
		path = append(path, e)
		node = e.a + e.b - node
	}
	return path
}
