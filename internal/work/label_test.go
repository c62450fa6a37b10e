package work

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
)

// largeGraph is a graph of many documents. Edge returns the ends of an edge by its number.
type largeGraph struct {
	name  string
	edges int
	edge  func(random *rand.Rand, number int) (a, b uint32)
}

// largeGraphs makes graphs of a number of documents, which is a power of ten.
func largeGraphs(documents int) []largeGraph {
	// An odd multiple goes through all numbers below a power of ten that it has no divisor in common with.
	shuffled := func(i int) uint32 { return uint32(i * 7_368_787 % documents) }
	return []largeGraph{
		{"chain", documents - 1, func(_ *rand.Rand, i int) (a, b uint32) { return uint32(i), uint32(i + 1) }},
		{"shuffled chain", documents - 1, func(_ *rand.Rand, i int) (a, b uint32) {
			return shuffled(i), shuffled(i + 1)
		}},
		{"star", documents - 1, func(_ *rand.Rand, i int) (a, b uint32) { return 0, uint32(i + 1) }},
		{"components of ten", documents / 10 * 9, func(_ *rand.Rand, i int) (a, b uint32) {
			return shuffled(i / 9 * 10), shuffled(i/9*10 + i%9 + 1)
		}},
		{"random", documents, func(random *rand.Rand, _ int) (a, b uint32) {
			return random.Uint32N(uint32(documents)), random.Uint32N(uint32(documents))
		}},
	}
}

// writeLarge writes a graph in parts, and returns the run files. It joins the edges in forest, too.
func writeLarge(b *testing.B, dir string, edges int, edge func(*rand.Rand, int) (uint32, uint32),
	forest graphs.Forest[uint32],
) (runs []string) {
	b.Helper()
	const parts = 64
	for part := range parts {
		random := rand.New(rand.NewPCG(uint64(part), 1))
		known := map[uint32]graphs.Node{}
		var p graphs.Part
		node := func(number uint32) graphs.Node {
			at, isKnown := known[number]
			if !isKnown {
				at = p.Add(docref.Ref(number)*1100, 1)
				known[number] = at
			}
			return at
		}
		for i := part; i < edges; i += parts {
			x, y := edge(random, i)
			forest.Union(x, y)
			p.Parents.Union(node(x), node(y))
		}
		w := runfile.NewWriter(dir, 1<<20)
		if err := records.WritePart(w, records.EdgeNodes, part, p); err != nil {
			b.Fatal(err)
		}
		path, err := w.Close()
		if err != nil {
			b.Fatal(err)
		}
		runs = append(runs, path)
	}
	return runs
}

// firstNumbers is a labeller that notes the number of the first document of each document's component.
type firstNumbers []uint32

func (firstNumbers) Count(joining.Component)                 {}
func (firstNumbers) Place(joining.Component) (uint64, error) { return 0, nil }
func (firstNumbers) Node(int, graphs.Node, struct{}) error   { return nil }
func (n firstNumbers) Document(d joining.Document) (none struct{}, err error) {
	n[d.Ref/1100] = uint32(d.Component.First / 1100)
	return none, nil
}

// BenchmarkLabel labels graphs of ten million documents within several budgets, or with -short of a hundred thousand
// within a hundredth of these. The labels must be as a plain union-find gives them.
func BenchmarkLabel(b *testing.B) {
	documents, less := 10_000_000, int64(1)
	if testing.Short() {
		documents, less = documents/100, 100
	}
	for _, graph := range largeGraphs(documents) {
		var runs []string
		dir := b.TempDir()
		forest := graphs.NewForest[uint32](documents)
		for _, bytes := range []int64{1 << 30, 100 << 20, 20 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", graph.name, bytes>>20), func(b *testing.B) {
				if runs == nil {
					runs = writeLarge(b, dir, graph.edges, graph.edge, forest)
					forest.Flatten()
				}
				p := &Planning{Memory: &Memory{}, Runs: Runs{Folder: Path(b.TempDir())}}
				var labels firstNumbers
				var cpu time.Duration
				for b.Loop() {
					labels = make(firstNumbers, documents)
					for i := range labels {
						labels[i] = uint32(i)
					}
					took, err := Measure(func() error {
						return joining.Label(GraphOf(runs, records.EdgeNodes, p, bytes/less), labels)
					})
					if err != nil {
						b.Fatal(err)
					}
					cpu += took
				}
				b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
				for i, first := range labels {
					if first != forest[i] {
						b.Fatalf("document %d is in the component of %d, want %d", i, first, forest[i])
					}
				}
			})
		}
	}
}
