package gathering

import (
	"context"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// job is a job of a few files. Each is a split. The first one is a reference.
type job struct {
	runs     work.Runs
	inputs   work.Path
	sets     map[docref.Ref][]uint64
	refs     []docref.Ref // ascending
	sketches work.Outcome // the sketch blocks
	joined   bool         // a task does all parts, or all splits
	ranges   int          // by which components are placed; 0: by the step
}

const files = 3

// newJob makes a job with perFile documents in each file.
func newJob(t *testing.T, perFile int) *job {
	t.Helper()
	j := &job{runs: worktest.Runs(t), sets: map[docref.Ref][]uint64{}}
	var inputs documents.Inputs
	random := rand.New(rand.NewPCG(1, 2))
	run := worktest.Write(t, j.runs, func(run *runfile.Writer) error {
		for file := range files {
			inputs.Files = append(inputs.Files, corpus.File{
				Name:      string(rune('a' + file)),
				Size:      int64(perFile),
				Reference: file == 0,
			})
			inputs.Splits = append(inputs.Splits, corpus.Split{{File: file, End: int64(perFile)}})
			if err := j.writeBlocks(run, file, perFile, random); err != nil {
				return err
			}
		}
		return nil
	})
	j.inputs = work.Path(filepath.Join(string(j.runs.Folder), "inputs"))
	if err := documents.WriteInputs(string(j.inputs), inputs); err != nil {
		t.Fatal(err)
	}
	j.sketches = work.Outcome{
		Stage:    work.Fingerprint,
		Run:      run,
		Findings: worktest.Counted(findings.Counts{Documents: int64(2 * perFile), ReferenceDocuments: int64(perFile)}),
	}
	j.refs = slices.Sorted(maps.Keys(j.sets))
	return j
}

// writeBlocks writes the documents of a file with random sets, four a sketch block.
func (j *job) writeBlocks(run *runfile.Writer, file, perFile int, random *rand.Rand) error {
	for first := 0; first < perFile; first += 4 {
		builder := sketchblock.NewBuilder(0, 0)
		for i := first; i < min(first+4, perFile); i++ {
			ref, err := docref.New(file, int64(i))
			if err != nil {
				return err
			}
			set := make([]uint64, 1+random.IntN(20))
			for k := range set {
				set[k] = random.Uint64N(1 << 48)
			}
			slices.Sort(set)
			j.sets[ref] = set
			builder.Add(sketchblock.Document{Ref: ref, Set: set, Size: len(set), Priority: priorityOf(ref)})
		}
		if err := run.Section(records.Documents, file, builder.Documents()...); err != nil {
			return err
		}
		if err := run.Section(records.Sets, file, builder.Sets()); err != nil {
			return err
		}
	}
	return nil
}

// priorityOf returns the priority of a document.
func priorityOf(ref docref.Ref) preference.Priority { return preference.Priority(ref%1000) << 40 }

// pair is a candidate pair.
type pair struct{ a, b docref.Ref }

// candidates writes pairs as one part of the candidate graph.
func (j *job) candidates(t *testing.T, part int, pairs []pair) work.Outcome {
	t.Helper()
	var graph graphs.Part
	nodes := map[docref.Ref]graphs.Node{}
	node := func(ref docref.Ref) graphs.Node {
		if _, known := nodes[ref]; !known {
			nodes[ref] = graph.Add(ref, uint32(len(j.sets[ref])))
		}
		return nodes[ref]
	}
	path := worktest.Write(t, j.runs, func(run *runfile.Writer) error {
		for _, p := range pairs {
			a, b := node(p.a), node(p.b)
			graph.Parents.Union(a, b)
			record, err := run.Record(records.NodePairs, part, records.NodePairSize)
			if err != nil {
				return err
			}
			records.Put(record, records.NodePair{A: a, B: b})
		}
		return records.WritePart(run, records.Nodes, part, graph)
	})
	return work.Outcome{Stage: work.Group, Number: part, Run: path}
}

// components returns a step that places components.
func (j *job) components(t *testing.T, placeBytes int64, bounds groups.Bounds) *Components {
	t.Helper()
	step := &Components{Inputs: j.inputs, PlaceBytes: placeBytes, Bounds: bounds, Ranges: j.ranges}
	if err := step.Setup(); err != nil {
		t.Fatal(err)
	}
	return step
}

// places holds what has come to the places.
type places struct {
	pairs map[int][]pair
	sets  map[int][]records.PlacedSet
}

// gather does all steps between the candidates and their places.
func (j *job) gather(t *testing.T, placeBytes int64, bounds groups.Bounds, outcomes ...work.Outcome) places {
	t.Helper()
	step := j.components(t, placeBytes, bounds)
	outcomes = append(outcomes, j.sketches)
	var ranged []work.Outcome
	if j.ranges > 0 {
		ranged = j.placeRanges(t, placeBytes, bounds, outcomes)
	}
	planned, tasks := worktest.Plan(t, j.runs, append(outcomes, ranged...), step.Plan)
	sent := j.send(t, tasks)
	return j.read(t, slices.Concat(sent, ranged, []work.Outcome{planned}))
}

// placeRanges places components by ranges.
func (j *job) placeRanges(t *testing.T, placeBytes int64, bounds groups.Bounds,
	outcomes []work.Outcome,
) []work.Outcome {
	t.Helper()
	ranges := union.Ranges{Inputs: j.inputs, Count: j.ranges}
	if err := ranges.Setup(); err != nil {
		t.Fatal(err)
	}
	do := func(tasks []work.Task, do func(context.Context, work.Task, *work.TaskContext) error) []work.Outcome {
		done := worktest.Do(t, j.runs, tasks, do)
		for i := range done {
			done[i].Stage = work.Gather
		}
		return done
	}
	spreading, linking, moving := union.Spreading{Ranges: ranges, Kind: records.Nodes}, union.Linking{
		Ranges: ranges,
		Bytes:  1 << 20,
	}, union.Moving{Ranges: ranges}
	nodes := do(worktest.Tasks(t, j.runs, union.SpreadingDelivery(records.Nodes, j.ranges), work.RunsOf(outcomes)...),
		spreading.Task)
	trees := do(worktest.Tasks(t, j.runs, union.LinkingDelivery(j.ranges), work.RunsOf(nodes)...), linking.Task)
	uniting := &Uniting{Uniting: union.Uniting{Ranges: ranges}, Bounds: bounds}
	_, tasks := worktest.Plan(t, j.runs, append(outcomes, trees...), func(ctx context.Context, p *work.Planning) error {
		p.Outcome.Stage = work.Gather
		return uniting.Plan(ctx, p)
	})
	moved := do(tasks, moving.Task)
	placing := &PlacingRange{Finishing: union.Finishing{Ranges: ranges}, PlaceBytes: placeBytes}
	return do(worktest.Tasks(t, j.runs, union.ComponentsDelivery(), work.RunsOf(append(trees, moved...))...),
		placing.Task)
}

// send does tasks of Sending.
func (j *job) send(t *testing.T, tasks []work.Task) []work.Outcome {
	t.Helper()
	sending := Sending{Inputs: j.inputs, Ranges: j.ranges}
	if err := sending.Setup(); err != nil {
		t.Fatal(err)
	}
	if j.joined {
		tasks = worktest.Joined(tasks)
	}
	return worktest.Do(t, j.runs, tasks, sending.Task)
}

// read sends the sets that the outcomes want, then reads what is at the places.
func (j *job) read(t *testing.T, outcomes []work.Outcome) places {
	t.Helper()
	tasks := worktest.Tasks(t, j.runs, SetsDelivery(), work.RunsOf(append(outcomes, j.sketches))...)
	p := places{map[int][]pair{}, map[int][]records.PlacedSet{}}
	for _, o := range append(outcomes, j.send(t, tasks)...) {
		for place, packed := range worktest.Read(t, records.PlacePairs, o.Run) {
			for ; len(packed) > 0; packed = packed[records.PairSize:] {
				of := records.Get[records.Pair](packed)
				p.pairs[place] = append(p.pairs[place], pair{of.A, of.B})
			}
		}
		for place, packed := range worktest.Read(t, records.PlaceSets, o.Run) {
			for len(packed) > 0 {
				var set records.PlacedSet
				set, packed = records.NextSet(packed)
				j.checkSet(t, set)
				p.sets[place] = append(p.sets[place], set)
			}
		}
	}
	return p
}

// checkSet checks that a set belongs to its document.
func (j *job) checkSet(t *testing.T, s records.PlacedSet) {
	t.Helper()
	want := j.sets[s.Ref]
	if got := sketchblock.AppendSet(nil, s.Set); !slices.Equal(got, want) || int(s.Size) != len(want) ||
		s.Priority != priorityOf(s.Ref) {
		t.Errorf("document %d: %+v, want %x", s.Ref, s, want)
	}
}
