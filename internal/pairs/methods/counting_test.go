package methods

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/lshbands"
)

// count counts the shingles of blocks. It returns the outcomes of all stages up to there.
func (s *scene) count(t *testing.T, blocks []work.Outcome) []work.Outcome {
	t.Helper()
	plan := SpreadPlanning{Parameters: s.p}
	_, tasks := worktest.Plan(t, s.runs, slices.Clone(blocks), plan.Plan)
	return s.countTasks(t, blocks, tasks)
}

// countTasks counts the shingles of tasks of [Spread].
func (s *scene) countTasks(t *testing.T, blocks []work.Outcome, tasks []work.Task) []work.Outcome {
	t.Helper()
	spread := s.do(t, tasks, Spread)
	counts := s.do(t, worktest.Tasks(t, s.runs, CountNeeds(), work.RunsOf(spread)...), Count)
	for i := range spread {
		spread[i].Stage = work.Spread
	}
	for i := range counts {
		counts[i].Stage = work.Count
	}
	return slices.Concat(blocks, spread, counts)
}

// ordered returns the blocks of the scene for exact keys.
func (s *scene) ordered(t *testing.T) []work.Outcome {
	m, _ := Of(Exact)
	return s.blocks(t, m)
}

// TestCountTasks: memory makes fewer tasks of very many ranges, as few as all workers need, and none that holds more.
func TestCountTasks(t *testing.T) {
	const perRange = 1 << 19
	for _, test := range []struct {
		ranges, bytes int64
		want          int
	}{
		{1, 0, 1},
		{fewCounts, 1 << 40, fewCounts / 2},
		{8 * manyCounts, 1 << 40, manyCounts}, // usual tasks are few enough
		{65000, 0, 8125},
		{65000, 1 << 40, manyCounts},
		{65000, 32 * 3 * perRange, 2032},
		{65000, 3 * perRange, 8125},
		{1 << 24, 1 << 20, 8192}, // a range is large, and a task has some all the same
	} {
		shingles := test.ranges*perRange - 1
		got := CountTasks(shingles, test.bytes)
		if got != test.want {
			t.Errorf("%d ranges, %d bytes: %d tasks, want %d", test.ranges, test.bytes, got, test.want)
		}
		if usual := CountTasks(shingles, 0); got > usual {
			t.Errorf("%d ranges, %d bytes: %d tasks, and %d without memory", test.ranges, test.bytes, got, usual)
		}
	}
}

// TestFrequenciesComeBack: each split gets the frequencies of its own shingles, set by set, in however many ranges they
// were counted, by however many tasks, and if a task does several splits or counts for several. Counters that have seen
// the whole corpus give the same.
func TestFrequenciesComeBack(t *testing.T) {
	s := newScene(t)
	blocks := s.ordered(t)
	for i, cut := range [][2]int{
		{1, 1},
		{2, 2},
		{3*fewCounts + 1, 49},
		{1000, 125},
		{1000, 125},
		{1000, 7},
		{1000, 1},
	} {
		ranges, counts := cut[0], cut[1]
		s.joined = i%2 == 1
		plan := SpreadPlanning{Parameters: s.p}
		_, tasks := worktest.Plan(t, s.runs, slices.Clone(blocks), plan.Plan)
		if len(tasks) != 2 {
			t.Fatalf("%d tasks for two splits", len(tasks))
		}
		for tasks[0].Shingles = 1; lshbands.Ranges(tasks[0].Shingles) < ranges; {
			tasks[0].Shingles += 1 << 16
		}
		tasks[1].Shingles = tasks[0].Shingles
		tasks[0].Shards, tasks[1].Shards = counts, counts
		outcomes := s.countTasks(t, blocks, tasks)
		packed := worktest.Read(t, records.Frequencies, work.RunsOf(outcomes)...)
		counters := s.byRange(ranges)
		shared := 0
		for split := range 2 {
			f, err := newFrequencies(packed[split])
			if err != nil || len(f.ranges) != ranges {
				t.Fatalf("frequencies of %d ranges, want %d (%v)", len(f.ranges), ranges, err)
			}
			for i := range s.texts {
				x := &s.texts[i]
				if x.ref.File() != split {
					continue
				}
				want := []byte(nil)
				for k, hash := range x.set() {
					want = counters[lshbands.RangeOf(hash, ranges)].AppendFrequencies(want,
						asmkernels.AppendCounted(nil, x.set()[k:k+1]))
				}
				got, err := f.append(nil, x.set())
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%d ranges, document %d: frequencies %v, want %v (%v)", ranges, i, got, want, err)
				}
				shared += len(got) - bytes.Count(got, []byte{0})
			}
			if err := f.close(); err != nil {
				t.Error(err)
			}
		}
		if shared < 1000 {
			t.Errorf("%d shingles that several documents have tell little", shared)
		}
	}
}

// byRange counts the shingles of the scene, each range by itself.
func (s *scene) byRange(ranges int) []lshbands.Counter {
	hashes := make([][]uint64, ranges)
	for i := range s.texts {
		for _, hash := range s.texts[i].set() {
			in := lshbands.RangeOf(hash, ranges)
			hashes[in] = append(hashes[in], hash)
		}
	}
	counters := make([]lshbands.Counter, ranges)
	for in := range counters {
		counters[in].Reset(len(hashes[in]))
		counters[in].Add(asmkernels.AppendCounted(nil, hashes[in]))
	}
	return counters
}

// TestOtherFrequencies: frequencies of other sets are found out.
func TestOtherFrequencies(t *testing.T) {
	s := newScene(t)
	outcomes := s.count(t, s.ordered(t))
	packed := worktest.Read(t, records.Frequencies, work.RunsOf(outcomes)...)[0]
	var set []uint64
	for i := range s.texts {
		if s.texts[i].ref.File() == 0 {
			set = append(set, s.texts[i].set()...)
		}
	}
	for name, c := range map[string]struct {
		packed []byte
		set    []uint64
	}{
		"the same":   {packed, set},
		"fewer":      {packed, append(slices.Clone(set), 1)},
		"more":       {packed, set[1:]},
		"none":       {nil, set},
		"cut short":  {packed[:len(packed)-1], set},
		"half a one": {packed[:3], set},
		"twice":      {slices.Concat(packed, packed), set},
	} {
		f, err := newFrequencies(c.packed)
		if err == nil {
			_, err = f.append(nil, c.set)
		}
		if err == nil {
			err = f.close()
		}
		if (err == nil) != (name == "the same") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestNothingToCount: without a document there is no task, and a small corpus is not counted.
func TestNothingToCount(t *testing.T) {
	s := newScene(t)
	order := Ordering{Method: Exact, Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, nil, order.Plan); len(tasks) > 0 {
		t.Errorf("tasks %+v", tasks)
	}
	s.p.AllPairsUpTo = int64(len(s.texts))
	plan := SpreadPlanning{Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, s.blocks(t, unknown), plan.Plan); len(tasks) > 0 {
		t.Errorf("a small corpus is counted by %d tasks", len(tasks))
	}
	// Documents of the reference count as well.
	s.p.AllPairsUpTo--
	outcomes := s.blocks(t, unknown)
	outcomes[0].Counts = findings.Counts{ReferenceDocuments: outcomes[0].Counts.Documents}
	plan = SpreadPlanning{Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, outcomes, plan.Plan); len(tasks) != 2 {
		t.Errorf("a corpus that is not small is counted by %d tasks", len(tasks))
	}
}

// TestShinglesAreReleased: the shingles by ranges go as soon as they are counted, and nothing else.
func TestShinglesAreReleased(t *testing.T) {
	s := newScene(t)
	outcomes := s.count(t, s.ordered(t))
	s.runs.Release = true
	order := Ordering{Method: Exact, Parameters: s.p}
	worktest.Plan(t, s.runs, slices.Clone(outcomes), order.Plan)
	for _, o := range outcomes {
		if _, err := os.Stat(o.Run); (err != nil) != (o.Stage == work.Spread) {
			t.Errorf("a run of %s: %v", o.Stage, err)
		}
	}
}

// TestPlannedMethods: a step that names no method fails.
func TestPlannedMethods(t *testing.T) {
	s := newScene(t)
	p := work.Planning{Memory: &work.Memory{}, Runs: s.runs, Outcomes: s.ordered(t), Emit: func(work.Task) {}}
	p.Counts.Documents = int64(len(s.texts))
	order := Ordering{Method: "unheard-of", Parameters: s.p}
	if err := order.Plan(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "unheard-of") {
		t.Errorf("error %v", err)
	}
}
