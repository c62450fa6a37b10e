package union

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

const files, perFile = 7, 20

// inputsOf writes a list of some files, each a split.
func inputsOf(t *testing.T) work.Path {
	t.Helper()
	var inputs documents.Inputs
	for file := range files {
		inputs.Files = append(inputs.Files, corpus.File{Name: fmt.Sprint("file ", file), Size: perFile})
		inputs.Splits = append(inputs.Splits, corpus.Split{{File: file, End: perFile}})
	}
	path := filepath.Join(t.TempDir(), "inputs")
	if err := documents.WriteInputs(path, inputs); err != nil {
		t.Fatal(err)
	}
	return work.Path(path)
}

func refOf(t *testing.T, number int) docref.Ref {
	t.Helper()
	ref, err := docref.New(number/perFile, int64(number%perFile))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// seen is what is known of a node or document.
type seen struct {
	first, last    docref.Ref
	before, weight int64
}

// recorder is a labeller that keeps what it gets of documents and nodes.
type recorder struct {
	documents map[docref.Ref]seen
	nodes     map[graphs.Origin]seen
}

func newRecorder() *recorder {
	return &recorder{map[docref.Ref]seen{}, map[graphs.Origin]seen{}}
}

func (*recorder) Count(joining.Component) {}

func (*recorder) Place(c joining.Component) (uint64, error) { return uint64(c.First), nil }

func (r *recorder) Document(d joining.Document) (seen, error) {
	if _, again := r.documents[d.Ref]; again || d.Component.Value != uint64(d.Component.First) {
		return seen{}, fmt.Errorf("document %d comes again, or with the value of another component", d.Ref)
	}
	r.documents[d.Ref] = seen{d.Component.First, d.Component.Last, d.Before, d.Component.Weight}
	return r.documents[d.Ref], nil
}

func (r *recorder) Node(part int, node graphs.Node, s seen) error {
	of := graphs.Origin{Part: uint32(part), Node: node}
	if _, again := r.nodes[of]; again {
		return fmt.Errorf("node %+v comes again", of)
	}
	r.nodes[of] = s
	return nil
}

// partsOf returns parts of a graph whose edges join documents that are near each other, if reach is small.
func partsOf(t *testing.T, random *rand.Rand, parts, edges, reach int) []graphs.Part {
	all := make([]graphs.Part, parts)
	for i := range all {
		known := map[int]graphs.Node{}
		node := func(number int) graphs.Node {
			if _, is := known[number]; !is {
				known[number] = all[i].Add(refOf(t, number), uint32(number%9)+1)
			}
			return known[number]
		}
		for range random.IntN(edges) {
			a := random.IntN(files * perFile)
			all[i].Parents.Union(node(a), node((a+1+random.IntN(reach))%(files*perFile)))
		}
	}
	return all
}

// byRanges joins the parts by ranges. It returns what all ranges get, and how many names were linked.
func byRanges(t *testing.T, ranges Ranges, all []graphs.Part, bytes int64, joined bool) (*recorder, int64) {
	t.Helper()
	runs := worktest.Runs(t)
	var outcomes []work.Outcome
	do := func(tasks []work.Task, do func(context.Context, work.Task, *work.TaskContext) error) []string {
		if joined {
			tasks = worktest.Joined(tasks)
		}
		done := worktest.Do(t, runs, tasks, do)
		for i := range done {
			done[i].Stage = work.Gather
		}
		outcomes = done
		return work.RunsOf(done)
	}
	parts := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for number, part := range all {
			if err := records.WritePart(run, records.Nodes, number, part); err != nil {
				return err
			}
		}
		return nil
	})
	spreading, linking, moving := Spreading{Ranges: ranges, Kind: records.Nodes}, Linking{ranges, bytes}, Moving{ranges}
	nodes := do(worktest.Tasks(t, runs, SpreadingDelivery(records.Nodes, ranges.Count), parts), spreading.Task)
	trees := do(worktest.Tasks(t, runs, LinkingDelivery(ranges.Count), nodes...), linking.Task)
	uniting, names := Uniting{ranges, bytes}, int64(0)
	_, tasks := worktest.Plan(t, runs, outcomes, func(ctx context.Context, p *work.Planning) error {
		p.Outcome.Stage = work.Gather
		err := uniting.Plan(ctx, p)
		names = p.Figures.Records
		return err
	})
	moved := do(tasks, moving.Task)
	got := newRecorder()
	for _, task := range worktest.Tasks(t, runs, ComponentsDelivery(), append(trees, moved...)...) {
		_, err := worktest.Try(t, runs, task, func(_ context.Context, task work.Task, w *work.TaskContext) error {
			graph, err := (&Finishing{GraphBytes: bytes}).Graph(w)
			if err != nil {
				return err
			}
			before := len(got.documents)
			if err := joining.Label(graph, got); err != nil || len(got.documents) == before {
				return err
			}
			for _, s := range got.documents {
				if at := ranges.of(s.first); at > task.Number {
					return fmt.Errorf("range %d has a component that begins in range %d", task.Number, at)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return got, names
}

// TestUnion: whatever the ranges, the components are the ones that one task finds, and so is all that is told of
// documents and nodes.
func TestUnion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	inputs := inputsOf(t)
	if RangesOf(manyShards, 1<<50) != 0 || RangesOf(4096, manyBytes) != 0 || RangesOf(manyShards+1, manyBytes+1) < 2 {
		t.Error("only large jobs have ranges")
	}
	for trial := range 40 {
		all := partsOf(t, random, 1+random.IntN(6), 10+random.IntN(60), []int{1, 5, files*perFile - 1}[trial%3])
		want := newRecorder()
		err := joining.Label(&joining.Graph{
			Bytes:  1 << 20,
			Folder: t.TempDir(),
			Parts: func(visit func(int, graphs.Part) error) error {
				for number, part := range all {
					if err := visit(number, part); err != nil {
						return err
					}
				}
				return nil
			},
		}, want)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 3, files, 50} {
			ranges := Ranges{Inputs: inputs, Count: count}
			if err := ranges.Setup(); err != nil {
				t.Fatal(err)
			}
			got, _ := byRanges(t, ranges, all, []int64{500, 1 << 20}[trial%2], trial%4 > 1)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("trial %d, %d ranges: %+v, want %+v", trial, count, got, want)
			}
		}
	}
}

// TestFewLinks: what many parts see of one component is no work for the task that sees all.
func TestFewLinks(t *testing.T) {
	ranges := Ranges{Inputs: inputsOf(t), Count: 3}
	if err := ranges.Setup(); err != nil {
		t.Fatal(err)
	}
	all := make([]graphs.Part, 5)
	for i := range all {
		for first := 0; first+2 < files*perFile; first += 4 { // two documents in one part, three in all
			a, b := all[i].Add(refOf(t, first), 1), all[i].Add(refOf(t, first+1+i%2), 1)
			all[i].Parents.Union(a, b)
		}
	}
	if got, names := byRanges(t, ranges, all, 1<<20, false); names != 0 || len(got.documents) != files*perFile/4*3 {
		t.Errorf("%d names are linked; %d documents", names, len(got.documents))
	}
	chain := make([]graphs.Part, 2) // of three documents
	for i := range chain {
		a, b := chain[i].Add(refOf(t, i), 1), chain[i].Add(refOf(t, 30+30*i), 1)
		chain[i].Parents.Union(a, b)
	}
	chain[1].Parents.Union(chain[1].Add(refOf(t, 30), 1), 0)
	if got, names := byRanges(t, ranges, chain, 1<<20, false); names != 2 || len(got.documents) != 4 {
		t.Errorf("%d names are linked, want 2; %+v", names, got.documents)
	}
}

// TestInputsAreMissing: ranges need the list of inputs.
func TestInputsAreMissing(t *testing.T) {
	if err := (&Linking{Ranges: Ranges{Inputs: inputsOf(t) + "x", Count: 3}}).Setup(); err == nil {
		t.Error("there is none")
	}
}
