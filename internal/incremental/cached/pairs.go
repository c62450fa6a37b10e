// Package cached adds the pairs of the last run to the similarity graph of an incremental run. Grouping and scoring
// form no pair of two unchanged documents.
package cached

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Pairs writes the edges between documents of unchanged files that the last run found similar. Equal documents
// with keys in this run are the exception: they meet under their keys, and a new document may be the first of them.
type Pairs struct {
	Inputs work.Path
	// CachedPairs is the path of a table of the similar pairs of the last run.
	CachedPairs work.Path
	Shards      int
	// SimHashBits is the length of the fingerprints, if a score is the distance of two; 0 if sets are compared.
	SimHashBits int

	layout    documents.Layout // read in Setup
	unchanged documents.Unchanged
}

// Delivery makes the task of [Pairs] or [Passages]. There is one at most.
func Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Known}}
}

func (k *Pairs) Setup() error {
	err := k.layout.Read(string(k.Inputs))
	if err == nil {
		k.unchanged = k.layout.Inputs.Unchanged()
	}
	return err
}

// Task writes the edges, as a part of the similarity graph behind the parts of all shards and oversized groups.
func (k *Pairs) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Known)
	if err != nil {
		return err
	}
	cachedPairs, err := OpenPairs(string(k.CachedPairs))
	if err != nil {
		return err
	}
	w.Hold(cachedPairs)
	edges := knownEdges{documents: readKnown(packed)}
	classes, err := k.classes(&edges)
	if err != nil {
		return err
	}
	firsts := classes.find(cachedPairs)
	for i := range cachedPairs.Len() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		classes.join(&edges, cachedPairs.At(i), firsts[i])
	}
	return edges.write(&w.Run, 2*k.Shards)
}

// knownDocuments are packed documents, known by their places. They do not move, since they are many.
type knownDocuments struct {
	packed []byte
	order  []knownOrder // of digests, scopes and refs
}

// knownOrder is the leading bits of a digest, and the place of its document or the number of its cached pair.
type knownOrder struct{ lead, place uint32 }

func leadOf(d digest.Digest) uint32 { return uint32(d[0] >> 32) }

func readKnown(packed []byte) knownDocuments {
	k := knownDocuments{packed, make([]knownOrder, len(packed)/records.KnownSize)}
	for i := range k.order {
		k.order[i] = knownOrder{leadOf(digest.Get(packed[i*records.KnownSize:])), uint32(i)}
	}
	k.order = graphs.RadixSort(k.order, make([]knownOrder, len(k.order)), func(o *knownOrder) uint64 {
		return uint64(o.lead)
	})
	for start := 0; start < len(k.order); {
		end := start + 1
		for end < len(k.order) && k.order[end].lead == k.order[start].lead {
			end++
		}
		if end > start+1 { // mostly equal documents
			slices.SortFunc(k.order[start:end], func(x, y knownOrder) int {
				a, b := k.get(x.place), k.get(y.place)
				return cmp.Or(digest.Compare(a.Digest, b.Digest), cmp.Compare(a.Scope, b.Scope),
					cmp.Compare(a.Ref, b.Ref))
			})
		}
		start = end
	}
	return k
}

func (k *knownDocuments) get(place uint32) records.KnownDocument {
	return records.At[records.KnownDocument](k.packed, int(place))
}

// knownEdges are edges between packed documents. They name these by their places.
type knownEdges struct {
	documents knownDocuments
	edges     []records.Edge[graphs.Node]
}

func (e *knownEdges) add(a, b uint32, score records.Score) {
	e.edges = append(e.edges, records.Edge[graphs.Node]{A: graphs.Node(a), B: graphs.Node(b), Score: score})
}

// write writes the edges as a part of the similarity graph. Its nodes are in the order of the packed documents, which
// is document order. So nobody needs to sort them again.
func (e *knownEdges) write(run *runfile.Writer, shard int) error {
	nodes, count := make([]graphs.Node, len(e.documents.order)), 0 // by place; 1 if the document has an edge
	for _, edge := range e.edges {
		nodes[edge.A], nodes[edge.B] = 1, 1
	}
	for _, is := range nodes {
		count += int(is)
	}
	part := graphs.Part{
		Refs:    make([]docref.Ref, 0, count),
		Weights: make([]uint32, 0, count),
		Parents: make(graphs.Forest[graphs.Node], 0, count),
	}
	for place, is := range nodes {
		if is == 1 {
			d := e.documents.get(uint32(place))
			nodes[place] = part.Add(d.Ref, d.Size)
		}
	}
	for _, edge := range e.edges {
		edge.A, edge.B = nodes[edge.A], nodes[edge.B]
		part.Parents.Union(edge.A, edge.B)
		if err := records.WriteEdge(run, records.Edges, shard, edge); err != nil {
			return err
		}
	}
	return records.WritePart(run, records.EdgeNodes, shard, part)
}

// classes adds the edges between equal documents, and returns the classes.
func (k *Pairs) classes(edges *knownEdges) (*knownClasses, error) {
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64,
		FirstInput:     k.layout.FirstInput,
		Candidate:      func(_, _ *candidates.Record) {},
		Identical: func(first, other *candidates.Record) {
			score := records.NewScore(int(first.Size), int(first.Size), false)
			if k.SimHashBits > 0 {
				score = records.HammingScore(0, k.SimHashBits)
			}
			edges.add(first.Mark, other.Mark, score)
		},
	}
	of := edges.documents
	classes := make([]knownClass, 0, len(of.order))
	var equal []candidates.Record
	for start := 0; start < len(of.order); {
		end, lead := start+1, of.order[start]
		class := knownClass{lead: lead.lead, first: lead.place, second: lead.place}
		first := of.get(lead.place)
		if first.Digest == (digest.Digest{}) {
			return nil, fmt.Errorf("document %s has no digest", k.layout.Inputs.Name(first.Ref))
		}
		if end < len(of.order) && of.order[end].lead == lead.lead {
			equal = append(equal[:0], recordOf(&first, lead.place))
			for ; end < len(of.order) && of.order[end].lead == lead.lead; end++ {
				d := of.get(of.order[end].place)
				if d.Digest != first.Digest || d.Scope != first.Scope {
					break
				}
				if d.Keyed != first.Keyed {
					return nil, fmt.Errorf("of the equal documents %s and %s one has no keys",
						k.layout.Inputs.Name(first.Ref), k.layout.Inputs.Name(d.Ref))
				}
				if class.second == class.first &&
					(d.Side != first.Side || first.Ref < k.layout.FirstInput && d.Ref >= k.layout.FirstInput) {
					class.second = of.order[end].place
				}
				equal = append(equal, recordOf(&d, of.order[end].place))
			}
			if !first.Keyed { // else they meet
				g.Groups(equal)
			}
		}
		classes = append(classes, class)
		start = end
	}
	return &knownClasses{classes, k.layout.FirstInput, k.unchanged}, nil
}

// recordOf returns the record of a document of a group of equal ones. Its mark is the place of the document.
func recordOf(d *records.KnownDocument, place uint32) candidates.Record {
	return candidates.Record{Digest: d.Digest, Ref: d.Ref, Size: d.Size, Side: d.Side, First: true, Mark: place}
}

// knownClass is a class of equal documents of one scope: the leading bits of their digest, the place of its first
// document and, as in [candidates.Class], of the second one.
type knownClass struct{ lead, first, second uint32 }

// knownClasses are classes in the order of digests and scopes.
type knownClasses struct {
	all        []knownClass
	firstInput docref.Ref
	unchanged  documents.Unchanged
}

// find returns, for both digests of each cached pair, the first class whose digest has the same leading bits, or
// greater ones. Digests are looked up in order, as random look-ups would wait for the memory each time.
func (c *knownClasses) find(cachedPairs *state.CachedPairs) [][2]uint32 {
	firsts, order := make([][2]uint32, cachedPairs.Len()), make([]knownOrder, cachedPairs.Len())
	scratch := make([]knownOrder, len(order))
	for side := range 2 {
		for i := range order {
			v := cachedPairs.At(i)
			order[i] = knownOrder{leadOf([2]digest.Digest{v.A, v.B}[side]), uint32(i)}
		}
		at, sorted := 0, graphs.RadixSort(order, scratch, func(o *knownOrder) uint64 { return uint64(o.lead) })
		for _, o := range sorted {
			for at < len(c.all) && c.all[at].lead < o.lead {
				at++
			}
			firsts[o.place][side] = uint32(at)
		}
	}
	return firsts
}

// from returns the classes whose digests are not before the given one, among the ones from at on.
func (c *knownClasses) from(at uint32, documents *knownDocuments, d digest.Digest) []knownClass {
	rest := c.all[at:]
	for len(rest) > 0 && rest[0].lead == leadOf(d) && digest.Compare(documents.get(rest[0].first).Digest, d) < 0 {
		rest = rest[1:]
	}
	return rest
}

// join adds the edges of a cached pair: one for each scope that has unchanged documents of both digests.
func (c *knownClasses) join(edges *knownEdges, v state.CachedPair, firsts [2]uint32) {
	if v.A == v.B {
		return
	}
	a, b := c.from(firsts[0], &edges.documents, v.A), c.from(firsts[1], &edges.documents, v.B)
	for len(a) > 0 && len(b) > 0 {
		x, y := edges.documents.get(a[0].first), edges.documents.get(b[0].first)
		if x.Digest != v.A || y.Digest != v.B {
			return
		}
		order := cmp.Compare(x.Scope, y.Scope)
		if order == 0 {
			c.joinClasses(edges, a[0], b[0], v.Score)
		}
		if order <= 0 {
			a = a[1:]
		}
		if order >= 0 {
			b = b[1:]
		}
	}
}

// joinClasses adds the edge between two classes, unless a new document stands for one of them: that pair is scored.
func (c *knownClasses) joinClasses(edges *knownEdges, a, b knownClass, score records.Score) {
	of := &edges.documents
	x, y := a.class(of), b.class(of)
	first, second, ok := candidates.Ends(x, y, c.firstInput)
	if !ok || !c.unchanged.Both(first, second) {
		return
	}
	// Ends names two documents in document order. Each stands for one of the classes.
	place := func(ref docref.Ref) uint32 {
		switch ref {
		case x.First:
			return a.first
		case x.Second:
			return a.second
		case y.First:
			return b.first
		}
		return b.second
	}
	edges.add(place(first), place(second), score)
}

func (k *knownClass) class(of *knownDocuments) candidates.Class {
	first := of.get(k.first)
	c := candidates.Class{First: first.Ref, Second: first.Ref, Side: first.Side}
	if k.second != k.first {
		c.Second = of.get(k.second).Ref
	}
	return c
}

// allPairs are the tables of the jobs at work in this process.
var allPairs work.Shared[state.CachedPairs]

// OpenPairs returns the table of cached pairs in a file. Tasks of this process share it while one of them holds it.
func OpenPairs(path string) (*state.CachedPairs, error) {
	return allPairs.Get(path, state.ReadCachedPairs)
}
