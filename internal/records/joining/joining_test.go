package joining

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
)

// edge joins two documents, by number.
type edge [2]int

// refOf returns the ref of a document by its number. Their distances differ.
func refOf(number int) docref.Ref {
	return docref.Ref(number)*10 + docref.Ref(number%7) + docref.Ref(number/50)<<40
}

// weightOfRef returns the weight of a document.
func weightOfRef(ref docref.Ref) uint32 { return uint32(ref)%97 + 1 }

// partsOf deals edges to parts. A part numbers its documents in the order in which it sees them.
func partsOf(random *rand.Rand, edges []edge, parts int) []graphs.Part {
	all := make([]graphs.Part, parts)
	known := make([]map[docref.Ref]graphs.Node, parts)
	for _, e := range edges {
		k := random.IntN(parts)
		if known[k] == nil {
			known[k] = map[docref.Ref]graphs.Node{}
		}
		node := func(number int) graphs.Node {
			ref := refOf(number)
			if _, isKnown := known[k][ref]; !isKnown {
				known[k][ref] = all[k].Add(ref, weightOfRef(ref))
			}
			return known[k][ref]
		}
		all[k].Parents.Union(node(e[0]), node(e[1]))
	}
	return all
}

// graphOf returns a graph of parts.
func graphOf(t testing.TB, parts []graphs.Part, bytes int64) *Graph {
	t.Helper()
	return &Graph{Bytes: bytes, Folder: t.TempDir(), Parts: func(visit func(int, graphs.Part) error) error {
		for i, p := range parts {
			if err := visit(i, p); err != nil {
				return err
			}
		}
		return nil
	}}
}

// label is what a recorder knows of a document.
type label struct {
	Document
	Component Component
}

// recorder is a labeller that keeps all it gets.
type recorder struct {
	counted, placed []Component
	documents       []label
	nodes           map[int]map[graphs.Node]label
}

func (r *recorder) Count(c Component) { r.counted = append(r.counted, c) }

func (r *recorder) Place(c Component) (uint64, error) {
	r.placed = append(r.placed, c)
	return uint64(len(r.placed)) << 40, nil
}

func (r *recorder) Document(d Document) (label, error) {
	l := label{d, *d.Component}
	l.Document.Component = nil
	r.documents = append(r.documents, l)
	return l, nil
}

func (r *recorder) Node(part int, node graphs.Node, l label) error {
	if r.nodes == nil {
		r.nodes = map[int]map[graphs.Node]label{}
	}
	if r.nodes[part] == nil {
		r.nodes[part] = map[graphs.Node]label{}
	}
	if _, again := r.nodes[part][node]; again {
		return errors.New("a node comes twice")
	}
	r.nodes[part][node] = l
	return nil
}

// expected returns what a plain union-find says of edges over n documents.
func expected(n int, edges []edge, parts []graphs.Part, isUniform bool) *recorder {
	forest := graphs.NewForest[uint32](n)
	in := make([]bool, n)
	for _, e := range edges {
		forest.Union(uint32(e[0]), uint32(e[1]))
		in[e[0]], in[e[1]] = true, true
	}
	weight := func(ref docref.Ref) int64 {
		if isUniform {
			return 1
		}
		return int64(weightOfRef(ref))
	}
	r, at := &recorder{}, map[uint32]int{}
	before := make([]int64, n)
	for i := range in {
		if !in[i] {
			continue
		}
		root, ref := forest.Find(uint32(i)), refOf(i)
		if root == uint32(i) {
			at[root] = len(r.counted)
			r.counted = append(r.counted, Component{First: ref})
		}
		c := &r.counted[at[root]]
		before[i] = c.Weight
		c.Last, c.Weight = ref, c.Weight+weight(ref)
	}
	r.placed = slices.Clone(r.counted)
	labels := map[docref.Ref]label{}
	for i := range in {
		if !in[i] {
			continue
		}
		number := at[forest.Find(uint32(i))]
		l := label{Document{Ref: refOf(i), Before: before[i]}, r.placed[number]}
		l.Component.Value = uint64(number+1) << 40
		r.documents, labels[l.Ref] = append(r.documents, l), l
	}
	for part, p := range parts {
		for node, ref := range p.Refs {
			_ = r.Node(part, graphs.Node(node), labels[ref])
		}
	}
	return r
}

// TestLabel: whatever the budget, the labels are as a plain union-find gives them, and no file stays.
func TestLabel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 25 {
		n := 2 + random.IntN(60)
		edges := shapes[trial%len(shapes)].edges(random, n)
		parts := partsOf(random, edges, 1+random.IntN(5))
		for _, bytes := range []int64{1 << 20, int64(n) * 30, 500} {
			isUniform := trial%3 == 0
			g, got := graphOf(t, parts, bytes), &recorder{}
			g.IsUniform = isUniform
			if err := Label(g, got); err != nil {
				t.Fatal(err)
			}
			if want := expected(n, edges, parts, isUniform); !reflect.DeepEqual(got, want) {
				t.Fatalf(
					"trial %d, %s of %d documents in %d bytes: labels differ from those of a plain union-find\n%v\n%v",
					trial, shapes[trial%len(shapes)].name, n, bytes, got, want)
			}
			if left, err := os.ReadDir(g.Folder); err != nil || len(left) > 0 {
				t.Fatalf("trial %d: %d files are left (%v)", trial, len(left), err)
			}
		}
	}
}

// shapes are graphs of n documents.
var shapes = []struct {
	name  string
	edges func(random *rand.Rand, n int) []edge
}{
	{"random", func(random *rand.Rand, n int) (all []edge) {
		for range random.IntN(2*n) + 1 {
			if a, b := random.IntN(n), random.IntN(n); a != b {
				all = append(all, edge{a, b})
			}
		}
		return all
	}},
	{"chain", func(random *rand.Rand, n int) (all []edge) {
		for i := range n - 1 {
			all = append(all, edge{i, i + 1})
		}
		return all
	}},
	{"shuffled chain", func(random *rand.Rand, n int) (all []edge) {
		order := random.Perm(n)
		for i := range n - 1 {
			all = append(all, edge{order[i], order[i+1]})
		}
		return all
	}},
	{"star", func(random *rand.Rand, n int) (all []edge) {
		center := random.IntN(n)
		for i := range n {
			if i != center {
				all = append(all, edge{center, i})
			}
		}
		return all
	}},
	{"small ones", func(random *rand.Rand, n int) (all []edge) {
		order := random.Perm(n)
		for i := 0; i+2 < n; i += 3 {
			all = append(all, edge{order[i], order[i+1]}, edge{order[i+1], order[i+2]})
		}
		return all
	}},
}

// TestNoDocument: an empty graph has no label.
func TestNoDocument(t *testing.T) {
	for _, bytes := range []int64{0, 1 << 20} {
		got := &recorder{}
		if err := Label(graphOf(t, nil, bytes), got); err != nil || !reflect.DeepEqual(got, &recorder{}) {
			t.Errorf("%+v (%v)", got, err)
		}
	}
}

// TestTooManyDocuments: a range with more documents than there are ranks is an error, no matter how few the ranks are.
func TestTooManyDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	parts := partsOf(random, shapes[1].edges(random, 40_000), 3)
	g := graphOf(t, parts, 1000)
	f, err := g.survey()
	if err != nil || f.fits {
		t.Fatalf("%+v (%v)", f, err)
	}
	f.sampled = f.sampled[:2]
	r := newRanges(g, f)
	defer r.files.close()
	r.most = 10_000
	if err := labelRanges(r, &recorder{}); err == nil || !strings.Contains(err.Error(), "more than 10000 documents") {
		t.Errorf("error %v", err)
	}
}

// faulty is a labeller whose calls fail from some number on.
type faulty struct {
	recorder
	left int
}

var errFaulty = errors.New("faulty")

func (f *faulty) fail() error {
	if f.left--; f.left < 0 {
		return errFaulty
	}
	return nil
}

func (f *faulty) Place(Component) (uint64, error)          { return 0, f.fail() }
func (f *faulty) Document(d Document) (label, error)       { return label{}, f.fail() }
func (f *faulty) Node(_ int, _ graphs.Node, _ label) error { return f.fail() }

// TestFaults: an error of the labeller, of a part or of a file ends the work.
func TestFaults(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	parts := partsOf(random, shapes[0].edges(random, 100), 3)
	for _, bytes := range []int64{1 << 20, 1000} {
		for _, left := range []int{0, 60, 150} {
			if err := Label(graphOf(t, parts, bytes), &faulty{left: left}); !errors.Is(err, errFaulty) {
				t.Errorf("%d bytes, failing after %d calls: %v", bytes, left, err)
			}
		}
		for passes := range 2 {
			g, pass := graphOf(t, parts, bytes), 0
			plain := g.Parts
			g.Parts = func(visit func(int, graphs.Part) error) error {
				if pass++; pass > passes+1 {
					return errFaulty
				}
				return plain(visit)
			}
			if err := Label(g, &recorder{}); (err != nil) != (passes == 0 || bytes > 1000) {
				t.Errorf("%d bytes, failing after %d passes: %v", bytes, passes+1, err)
			}
		}
	}
	g := graphOf(t, parts, 1000)
	g.Folder += "/missing"
	if err := Label(g, &recorder{}); err == nil {
		t.Error("no folder, and no error")
	}
}

// TestStopped: the work ends wherever its context does, with all documents in memory and in ranges.
func TestStopped(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	parts := partsOf(random, shapes[1].edges(random, 2000), 3)
	for _, bytes := range []int64{1 << 20, 1000} {
		ends, asked := 0, 0
		for err := error(context.Canceled); err != nil; {
			ctx, cancel := context.WithCancel(t.Context())
			g := graphOf(t, parts, bytes)
			ends, asked = max(2*ends, 1), 0
			g.Stopped = func() error {
				if asked++; asked == ends {
					cancel()
				}
				return ctx.Err()
			}
			err = Label(g, &recorder{})
			cancel()
			if (err != nil) != (asked >= ends) || asked > ends || err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%d bytes: ended at question %d, asked %d: %v", bytes, ends, asked, err)
			}
		}
		if asked < 3 {
			t.Errorf("%d bytes: asked %d times", bytes, asked)
		}
	}
}
