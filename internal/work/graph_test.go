package work

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
)

// edge joins two nodes.
type edge struct{ a, b docref.Ref }

// randomEdges makes edges between few nodes, so that some have several and some components have many.
func randomEdges(random *rand.Rand, n int) (edges []edge) {
	for range n {
		edges = append(edges, edge{docref.Ref(random.IntN(80)), docref.Ref(random.IntN(80))})
	}
	return edges
}

// writeEdges writes edges as one part of a graph: their nodes, each once, and the edges by the numbers of these.
func writeEdges(t *testing.T, dir string, part int, edges []edge) string {
	t.Helper()
	w := runfile.NewWriter(dir, 100) // several sections of a kind
	defer w.Abort()
	var nodes graphs.Part
	node := func(ref docref.Ref) graphs.Node {
		at := slices.Index(nodes.Refs, ref)
		if at < 0 {
			return nodes.Add(ref, 1)
		}
		return graphs.Node(at)
	}
	for _, e := range edges {
		a, b := node(e.a), node(e.b)
		nodes.Parents.Union(a, b)
		packed, err := w.Record(records.Edges, part, records.EdgeSize)
		if err != nil {
			t.Fatal(err)
		}
		records.PutEdge(packed, records.Edge[graphs.Node]{A: a, B: b, Score: records.NewScore(1, 2, false)})
	}
	if err := records.WritePart(w, records.EdgeNodes, part, nodes); err != nil {
		t.Fatal(err)
	}
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGraphOf: two nodes are joined just if a way of edges leads from one to the other, whatever parts hold them.
func TestGraphOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var runs []string
	reached := map[docref.Ref]docref.Ref{} // the least known node of each component
	var all []edge
	for part := range 5 {
		edges := randomEdges(random, 12)
		runs, all = append(runs, writeEdges(t, dir, part, edges)), append(all, edges...)
	}
	for _, e := range all {
		reached[e.a], reached[e.b] = e.a, e.b
	}
	for range all { // as many rounds as a way may be long
		for _, e := range all {
			least := min(reached[e.a], reached[e.b])
			reached[e.a], reached[e.b] = least, least
		}
	}
	p := &Planning{Memory: &Memory{}, Runs: Runs{Folder: Path(dir)}}
	for _, bytes := range []int64{1 << 20, 100} {
		got := firsts{}
		if err := joining.Label(GraphOf(runs, records.EdgeNodes, p, bytes), got); err != nil ||
			!maps.Equal(got, firsts(reached)) {
			t.Errorf("%d bytes: components %v (%v), want %v", bytes, got, err, reached)
		}
	}
	got := firsts{}
	if err := joining.Label(GraphOf(runs, records.Nodes, p, 1<<20), got); err != nil || len(got) != 0 {
		t.Errorf("%d nodes of another graph (%v)", len(got), err)
	}
	if err := joining.Label(GraphOf([]string{runs[0] + "x"}, records.EdgeNodes, p, 1<<20), got); err == nil {
		t.Error("a run that is not there is read")
	}
}

// firsts is a labeller that notes the first document of each document's component.
type firsts map[docref.Ref]docref.Ref

func (firsts) Count(joining.Component)                 {}
func (firsts) Place(joining.Component) (uint64, error) { return 0, nil }
func (firsts) Node(int, graphs.Node, struct{}) error   { return nil }
func (f firsts) Document(d joining.Document) (none struct{}, err error) {
	f[d.Ref] = d.Component.First
	return none, nil
}

// TestEachPart: parts come with their shards, each once, and a visitor's error ends the walk.
func TestEachPart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	var runs []string
	want := map[int]int{}
	for _, shard := range []int{7, 2, 9} {
		edges := randomEdges(random, 30)
		runs = append(runs, writeEdges(t, dir, shard, edges))
		nodes := map[docref.Ref]bool{}
		for _, e := range edges {
			nodes[e.a], nodes[e.b] = true, true
		}
		want[shard] = len(nodes) * records.NodeSize
	}
	several := runfile.NewWriter(dir, 100) // whose sections take turns
	for i := range 90 {
		shard := []int{5, 1, 6}[i%3]
		if err := records.WriteFixed(several, records.EdgeNodes, shard, records.Node{Ref: docref.Ref(i)}); err != nil {
			t.Fatal(err)
		}
		want[shard] += records.NodeSize
	}
	path, err := several.Close()
	if err != nil {
		t.Fatal(err)
	}
	runs = append(runs, path)
	got, visited := map[int]int{}, 0
	err = EachPart(runs, records.EdgeNodes, &Memory{}, func(shard int, nodes []byte) error {
		got[shard] += len(nodes)
		visited++
		return nil
	})
	if err != nil || !maps.Equal(got, want) || visited != len(want) {
		t.Errorf("bytes by shard %v (%v), want %v", got, err, want)
	}
	stop, visits := errors.New("stop"), 0
	err = EachPart(runs, records.EdgeNodes, &Memory{}, func(int, []byte) error { visits++; return stop })
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("%d visits, error %v", visits, err)
	}
}

// TestEdgesOfAStage: the edges and records of one stage are visited with their own nodes, edges of others are not.
func TestEdgesOfAStage(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	outcomes := []Outcome{{Stage: Score}} // a task that has written nothing
	want := map[edge]int{}
	for part := range 4 {
		edges := randomEdges(random, 25)
		outcomes = append(outcomes, Outcome{Stage: Score, Number: part, Run: writeEdges(t, dir, part, edges)})
		for _, e := range edges {
			want[e]++
		}
	}
	outcomes = append(outcomes, Outcome{Stage: Group, Run: writeEdges(t, dir, 0, randomEdges(random, 25))})
	got := map[edge]int{}
	err := EachEdges(outcomes, Score, &Memory{}, func(packed []byte) func([]byte) {
		nodes := records.DecodePart(graphs.Part{}, packed)
		return func(edges []byte) {
			for ; len(edges) > 0; edges = edges[records.EdgeSize:] {
				e := records.GetEdge[graphs.Node](edges)
				got[edge{nodes.Refs[e.A], nodes.Refs[e.B]}]++
			}
		}
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%d edges (%v), want %d", len(got), err, len(want))
	}

	var visited, whole []byte
	err = EachRecordOf(outcomes, Score, records.Edges, &Memory{}, func(packed []byte) error {
		visited = append(visited, packed...)
		return nil
	})
	for _, o := range outcomes[1:5] {
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			t.Fatal(err)
		}
		var reader runfile.Reader
		if whole, err = reader.ReadKind(whole, pieces, records.Edges); err != nil {
			t.Fatal(err)
		}
		reader.Close()
	}
	if err != nil || !bytes.Equal(visited, whole) || len(whole) != 100*records.EdgeSize {
		t.Errorf("%d bytes of edges (%v), want %d", len(visited), err, len(whole))
	}
	stop := errors.New("stop")
	if err := EachRecordOf(outcomes, Score, records.Edges, &Memory{},
		func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}

	gone := []Outcome{{Stage: Score, Run: outcomes[1].Run + "x"}}
	err1 := EachRecordOf(gone, Score, records.Edges, &Memory{}, func([]byte) error { return nil })
	err2 := EachEdges(gone, Score, &Memory{}, func([]byte) func([]byte) { return func([]byte) {} })
	if err1 == nil || err2 == nil {
		t.Errorf("a run that is not there: errors %v, %v", err1, err2)
	}
}
