package clusters

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// at names a document.
func at(file int, position int64) docref.Ref {
	ref, err := docref.New(file, position)
	if err != nil {
		panic(err)
	}
	return ref
}

// threeFiles writes a list of three inputs, in as many splits, and returns its path. The
// first file is of the reference; the second is cut in the middle.
func threeFiles(t testing.TB) work.Path {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs.gob")
	err := documents.WriteInputs(path, documents.Inputs{
		Files: []corpus.File{{Name: "r", Size: 100, Reference: true}, {Name: "a", Size: 100}, {Name: "b", Size: 100}},
		Splits: []corpus.Split{
			{{File: 0, End: 100}}, {{File: 1, End: 50}}, {{File: 1, Start: 50, End: 100}, {File: 2, End: 100}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return work.Path(path)
}

// joins is an edge between two nodes of a part.
func joins(a, b graphs.Node, shared, total uint32) records.Edge[graphs.Node] {
	return records.Edge[graphs.Node]{A: a, B: b, Score: records.Score{Shared: shared, Total: total}}
}

// writePart writes a part of the graph: its nodes, and edges between them.
func writePart(run *runfile.Writer, part int, nodes []docref.Ref, edges ...records.Edge[graphs.Node]) error {
	parents := graphs.NewForest[graphs.Node](len(nodes))
	for _, e := range edges {
		parents[e.B] = parents[e.A]
		b, err := run.Record(records.Edges, part, records.EdgeSize)
		if err != nil {
			return err
		}
		records.PutEdge(b, e)
	}
	for i, ref := range nodes {
		if err := records.WriteFixed(run, records.EdgeNodes, part,
			records.Node{Ref: ref, Weight: 1, Parent: parents[i]}); err != nil {
			return err
		}
	}
	return nil
}

// writeSplits writes sketch blocks of some documents. Most are in no cluster.
func writeSplits(run *runfile.Writer) error {
	for split, refs := range [][]docref.Ref{
		{at(0, 0), at(0, 10), at(0, 20)},
		{at(1, 0), at(1, 10), at(1, 20)},
		{at(1, 60), at(1, 70), at(2, 5), at(2, 7), at(2, 90)},
	} {
		for _, some := range [][]docref.Ref{refs[:2], refs[2:]} { // one block each
			var all []sketchblock.Document
			for _, ref := range some {
				all = append(all, sketchblock.Document{
					Ref:      ref,
					Size:     8 + int(ref.Position()),
					Priority: preference.Priority(ref.Position() << 32),
					ID:       fmt.Append(nil, "id", ref.File(), ".", ref.Position()),
				})
			}
			if err := worktest.Block(run, split, all...); err != nil {
				return err
			}
		}
	}
	for kind, ref := range map[runfile.Kind]docref.Ref{records.Repeated: at(2, 5), records.Unchecked: at(1, 10)} {
		b, err := run.Record(kind, map[runfile.Kind]int{records.Repeated: 2, records.Unchecked: 1}[kind],
			records.RefSize)
		if err != nil {
			return err
		}
		records.PutRef(b, ref)
	}
	return nil
}

// sent labels the components of the runs, by ranges if there are any, and does the tasks that follow. It returns a
// catalog of what was sent. Joined says that one task does all parts, and one all splits.
func sent(t *testing.T, runs work.Runs, inputs work.Path, joined bool, ranges int,
	outcomes ...work.Outcome,
) (catalog string, tasks []work.Task) {
	t.Helper()
	l := &Labelling{Inputs: inputs, Ranges: ranges}
	if err := l.Setup(); err != nil {
		t.Fatal(err)
	}
	if ranges > 0 {
		outcomes = append(outcomes, labelRanges(t, runs, union.Ranges{Inputs: inputs, Count: ranges}, outcomes)...)
	}
	_, tasks = worktest.Plan(t, runs, outcomes, func(_ context.Context, p *work.Planning) error {
		p.Counts.Documents = 150_000
		return l.Plan(p, func(_, _ docref.Ref) {})
	})
	sending := &Sending{Inputs: inputs, Ranges: ranges}
	if err := sending.Setup(); err != nil {
		t.Fatal(err)
	}
	do := slices.Clone(tasks)
	for i := range do {
		do[i].Documents = 150_000
	}
	if joined {
		do = worktest.Joined(do)
	}
	return worktest.Catalog(t, work.RunsOf(worktest.Do(t, runs, do, sending.Task))...), tasks
}

// labelRanges labels components by ranges.
func labelRanges(t *testing.T, runs work.Runs, ranges union.Ranges, outcomes []work.Outcome) []work.Outcome {
	t.Helper()
	if err := ranges.Setup(); err != nil {
		t.Fatal(err)
	}
	do := func(tasks []work.Task, do func(context.Context, work.Task, *work.TaskContext) error) []work.Outcome {
		done := worktest.Do(t, runs, tasks, do)
		for i := range done {
			done[i].Stage = work.Cluster
		}
		return done
	}
	spreading, linking, moving := union.Spreading{Ranges: ranges, Kind: records.EdgeNodes}, union.Linking{
		Ranges: ranges,
		Bytes:  1 << 20,
	}, union.Moving{Ranges: ranges}
	var parts []string
	for _, o := range outcomes {
		if !slices.Contains(WithoutEdges, o.Stage) {
			parts = append(parts, o.Run)
		}
	}
	nodes := do(worktest.Tasks(t, runs, union.SpreadingDelivery(records.EdgeNodes, ranges.Count), parts...),
		spreading.Task)
	trees := do(worktest.Tasks(t, runs, union.LinkingDelivery(ranges.Count), work.RunsOf(nodes)...), linking.Task)
	uniting := &union.Uniting{Ranges: ranges}
	_, tasks := worktest.Plan(t, runs, trees, func(ctx context.Context, p *work.Planning) error {
		p.Outcome.Stage = work.Cluster
		if err := WriteAudited(string(runs.Folder), nil); err != nil {
			return err
		}
		return uniting.Plan(ctx, p)
	})
	moved := do(tasks, moving.Task)
	labelling := &LabellingRange{Finishing: union.Finishing{Ranges: ranges}}
	return do(worktest.Tasks(t, runs, union.ComponentsDelivery(), work.RunsOf(append(trees, moved...))...),
		labelling.Task)
}

// TestComponentsReachTheirShards sends two components, which two parts of the graph share, to an output shard each.
// Components of equal documents of the reference alone are not sent. It is the same if a task does several parts or
// splits, and if components are labelled by ranges.
func TestComponentsReachTheirShards(t *testing.T) {
	for _, joined := range []bool{false, true} {
		for ranges := range 4 {
			t.Run(fmt.Sprintf("joined: %v, %d ranges", joined, ranges), func(t *testing.T) {
				checkComponents(t, joined, ranges)
			})
		}
	}
}

func checkComponents(t *testing.T, joined bool, ranges int) {
	runs := worktest.Runs(t)
	alike := func(a, b graphs.Node) records.Edge[graphs.Node] { return joins(a, b, 9, 10) }
	equal := func(a, b graphs.Node) records.Edge[graphs.Node] { return joins(a, b, 8, 8) }
	span := sketch.Span{StartA: 1, EndA: 2, StartB: 30, EndB: 40, Words: 5}
	first := worktest.Write(t, runs, func(run *runfile.Writer) error {
		return writePart(run, 4, []docref.Ref{at(1, 0), at(0, 0), at(0, 20), at(0, 10)}, alike(0, 1), equal(3, 2))
	})
	second := worktest.Write(t, runs, func(run *runfile.Writer) error {
		b, err := run.Record(records.Spans, 7, records.SpanSize)
		if err != nil {
			return err
		}
		records.Put(b, records.Span[graphs.Node]{A: 4, B: 3, Span: span, More: 2})
		return writePart(run, 7, []docref.Ref{at(1, 60), at(0, 0), at(1, 10), at(2, 5), at(2, 7)}, alike(1, 0),
			alike(2, 3), alike(3, 4), alike(4, 3))
	})
	gathered := worktest.Write(t, runs, func(run *runfile.Writer) error {
		// an edge of a part that other parts use too
		return writePart(run, 0, []docref.Ref{at(1, 20), at(2, 90)}, equal(0, 1))
	})
	catalog, tasks := sent(t, runs, threeFiles(t), joined, ranges,
		work.Outcome{Stage: work.Fingerprint, Run: worktest.Write(t, runs, writeSplits)},
		work.Outcome{Stage: work.Group, Run: first}, work.Outcome{Stage: work.Gather, Run: gathered}, work.Outcome{
			Stage: work.Score,
			Run:   second,
		})
	var got [][2]int
	for _, task := range tasks {
		got = append(got, [2]int{task.Step, task.Number})
	}
	if want := [][2]int{
		{edgesStep, 4},
		{edgesStep, 7},
		{membersStep, 0},
		{membersStep, 1},
		{membersStep, 2},
	}; !slices.Equal(got, want) {
		t.Fatalf("tasks %v, want %v", got, want)
	}

	member := func(first records.Number, ref docref.Ref) records.Member {
		return records.Member{
			First:     first,
			Ref:       ref,
			Size:      8 + uint32(ref.Position()),
			Priority:  preference.Priority(ref.Position() << 32),
			Id:        fmt.Sprint("id", ref.File(), ".", ref.Position()),
			Repeated:  ref == at(2, 5),
			Unchecked: ref == at(1, 10),
		}
	}
	inOrder := span.Swap() // the pair 3, 4 was written as 4, 3
	for shard, want := range []shardContent{
		{
			members: []records.Member{member(0, at(0, 0)), member(0, at(1, 0)), member(0, at(1, 60))},
			edges:   []records.Edge[records.Number]{edge(0, 1, 9, 10), edge(0, 2, 9, 10)},
			spans:   []records.Span[records.Number]{},
		},
		{
			members: []records.Member{member(0, at(1, 10)), member(0, at(2, 5)), member(0, at(2, 7))},
			edges:   []records.Edge[records.Number]{edge(0, 1, 9, 10), edge(1, 2, 9, 10)},
			spans:   []records.Span[records.Number]{{A: 1, B: 2, Span: inOrder, More: 2}},
		},
	} {
		_, err := worktest.Try(t, runs, work.Task{Number: shard, Catalog: catalog}, readsShard(t, want))
		if err != nil {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
}

// TestNoEdgeNoTask: without an edge nothing is sent.
func TestNoEdgeNoTask(t *testing.T) {
	runs := worktest.Runs(t)
	for ranges := range 2 {
		_, tasks := sent(t, runs, threeFiles(t), false, ranges, work.Outcome{
			Stage: work.Fingerprint,
			Run:   worktest.Write(t, runs, writeSplits),
		})
		if len(tasks) > 0 {
			t.Errorf("%d ranges: tasks %+v", ranges, tasks)
		}
	}
}

// TestReleaseWhatIsRead: gathered sets go when the edges are known, whatever the job writes.
func TestReleaseWhatIsRead(t *testing.T) {
	runs := worktest.Runs(t)
	blocks := worktest.Write(t, runs, writeSplits)
	gathered := worktest.Write(t, runs, func(run *runfile.Writer) error {
		return writePart(run, 0, []docref.Ref{at(1, 20)})
	})
	l := &Labelling{Inputs: threeFiles(t), ReleaseSets: true}
	if err := l.Setup(); err != nil {
		t.Fatal(err)
	}
	runs.Release = true
	outcomes := []work.Outcome{{Stage: work.Fingerprint, Run: blocks}, {Stage: work.Gather, Run: gathered}}
	worktest.Plan(t, runs, outcomes, func(_ context.Context, p *work.Planning) error {
		return l.Plan(p, func(_, _ docref.Ref) {})
	})
	if _, err := runfile.Pieces(gathered); err == nil {
		t.Error("gathered sets are still there")
	}
	if b := worktest.Read(t, records.Documents, blocks); !reflect.DeepEqual(b,
		worktest.Read(t, records.Documents, worktest.Write(t, runs, writeSplits))) {
		t.Error("the documents of blocks have changed")
	}
}
