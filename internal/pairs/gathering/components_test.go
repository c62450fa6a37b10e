package gathering

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestComponents: each candidate pair comes to one place, with the sets of both documents, whether its component is cut
// or not, and by whatever ranges components are placed. A set comes to no other place, and only once.
func TestComponents(t *testing.T) {
	j := newJob(t, 40)
	random := rand.New(rand.NewPCG(3, 4))
	want := map[pair]bool{}
	var outcomes []work.Outcome
	for part := range 3 {
		var pairs []pair
		for range 60 {
			// Documents of one tenth of the job are joined, most of them of the first.
			tenth := min(random.IntN(10), random.IntN(10), random.IntN(10))
			at := func() docref.Ref { return j.refs[tenth*12+random.IntN(12)] }
			p := pair{at(), at()}
			if p.a == p.b {
				continue
			}
			want[p] = true
			pairs = append(pairs, p, p) // as if they had met under two keys
		}
		outcomes = append(outcomes, j.candidates(t, part, pairs))
	}
	for _, c := range []struct {
		name       string
		placeBytes int64
		isCut      bool
	}{
		{"one place", 1 << 20, false},
		{"some places", 8 * 200, false},
		{"components in few blocks", 8 * 100, true},
		{"components in many blocks", 8 * 30, true},
		{"a place for next to each pair", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, j.joined = range []bool{false, true} {
				for _, j.ranges = range []int{0, 1, 3, 10} {
					checkPlaces(t, j.gather(t, c.placeBytes, groups.UsualBounds(), outcomes...), want, c.isCut)
				}
			}
		})
	}
}

// checkPlaces checks what has come to the places.
func checkPlaces(t *testing.T, p places, want map[pair]bool, isCut bool) {
	t.Helper()
	placeOf := map[pair]int{}
	for place, pairs := range p.pairs {
		used := map[docref.Ref]bool{}
		for _, pair := range pairs {
			if other, known := placeOf[pair]; known && other != place {
				t.Errorf("%v came to places %d and %d", pair, place, other)
			}
			placeOf[pair] = place
			used[pair.a], used[pair.b] = true, true
		}
		for _, set := range p.sets[place] {
			if !used[set.Ref] {
				t.Errorf("the set of document %d came to place %d without a pair, or twice", set.Ref, place)
			}
			delete(used, set.Ref)
		}
		if len(used) > 0 {
			t.Errorf("place %d lacks the sets of %v", place, used)
		}
	}
	for pair := range want {
		if _, came := placeOf[pair]; !came {
			t.Errorf("%v came nowhere", pair)
		}
	}
	if len(placeOf) != len(want) {
		t.Errorf("%d pairs came, want %d", len(placeOf), len(want))
	}
	places := map[docref.Ref]int{}
	for _, sets := range p.sets {
		for _, set := range sets {
			places[set.Ref]++
		}
	}
	if most := slices.Max(slices.Collect(maps.Values(places))); (most > 1) != isCut {
		t.Errorf("a set came to %d places", most)
	}
}

// TestStars: a star with more pairs than the bounds allow loses the pairs within it, whatever keys they have met under.
// Pairs that reach out of it stay.
func TestStars(t *testing.T) {
	j := newJob(t, 8)
	large, small, other := j.refs[8:13], j.refs[14:17], j.refs[20]
	var pairs []pair
	for _, star := range [][]docref.Ref{large, small} {
		for i := range star {
			for _, b := range star[:i] {
				pairs = append(pairs, pair{star[i], b})
			}
			pairs = append(pairs, pair{star[i], other})
		}
	}
	candidates := j.candidates(t, 0, pairs)
	hotGroups := work.Outcome{Stage: work.Score, Run: worktest.Write(t, j.runs, func(run *runfile.Writer) error {
		for _, star := range [][]docref.Ref{large, small} {
			for _, ref := range slices.Concat(star, star[:1]) { // a document may come twice
				if err := records.WriteFixed(run, records.Stars, 0, records.Pair{A: ref, B: star[0]}); err != nil {
					return err
				}
			}
		}
		return nil
	})}
	for _, c := range []struct {
		bounds groups.Bounds
		left   int // pairs that are left
	}{
		{groups.Bounds{Spare: 13}, 0},
		{groups.Bounds{Spare: 12}, 10},
		{groups.Bounds{Spare: 3}, 10},
		{groups.Bounds{Spare: 2}, 13},
		{groups.Bounds{Corpus: 24}, 0}, // the corpus is small
		{groups.Bounds{Corpus: 23}, 13},
	} {
		for _, j.ranges = range []int{0, 2} {
			got := 0
			for _, pairs := range j.gather(t, 1<<20, c.bounds, candidates, hotGroups).pairs {
				got += len(pairs)
			}
			if got != len(pairs)-c.left {
				t.Errorf("%+v, %d ranges: %d of %d pairs came, want all but %d", c.bounds, j.ranges, got, len(pairs),
					c.left)
			}
		}
	}
}

// TestNoPairs: where no documents are compared there is no place, and no task.
func TestNoPairs(t *testing.T) {
	j := newJob(t, 4)
	step := j.components(t, 1<<20, groups.UsualBounds())
	if o, tasks := worktest.Plan(t, j.runs, []work.Outcome{j.sketches}, step.Plan); o.Run != "" || len(tasks) > 0 {
		t.Errorf("places in %q, %d tasks", o.Run, len(tasks))
	}
	hotGroups := HotGroups{Inputs: j.inputs, PlaceBytes: 1 << 20}
	if err := hotGroups.Setup(); err != nil {
		t.Fatal(err)
	}
	if o, tasks := worktest.Plan(t, j.runs, []work.Outcome{j.sketches}, hotGroups.Plan); o.Run != "" || len(tasks) > 0 {
		t.Errorf("hot groups in %q, %d tasks", o.Run, len(tasks))
	}
}

// TestHotGroupSetsAreReleased: the sets of hot groups have been scored when components are placed, so they go.
func TestHotGroupSetsAreReleased(t *testing.T) {
	j := newJob(t, 4)
	j.runs.Release = true
	written := worktest.Write(t, j.runs, func(run *runfile.Writer) error {
		return run.Section(records.PlaceSets, 0, []byte("set"))
	})
	j.gather(t, 1<<20, groups.UsualBounds(), j.candidates(t, 0, []pair{{j.refs[4], j.refs[5]}}), work.Outcome{
		Stage: work.Gather,
		Run:   written,
	})
	if _, err := os.Stat(written); !os.IsNotExist(err) {
		t.Errorf("the sets of hot groups are still there: %v", err)
	}
}

// TestFaults: a damaged run file is reported, and so are missing inputs.
func TestFaults(t *testing.T) {
	j := newJob(t, 4)
	if (&Components{Inputs: j.inputs + "x"}).Setup() == nil || (&HotGroups{Inputs: j.inputs + "x"}).Setup() == nil ||
		(&Sending{Inputs: j.inputs + "x"}).Setup() == nil {
		t.Error("no inputs, yet no error")
	}
	candidates := j.candidates(t, 0, []pair{{j.refs[4], j.refs[5]}})
	step := j.components(t, 1<<20, groups.UsualBounds())
	_, tasks := worktest.Plan(t, j.runs, []work.Outcome{candidates, j.sketches}, step.Plan)
	packed, err := os.ReadFile(candidates.Run)
	if err != nil {
		t.Fatal(err)
	}
	packed[0] ^= 1
	if err := os.WriteFile(candidates.Run, packed, 0o666); err != nil {
		t.Fatal(err)
	}
	sending := Sending{Inputs: j.inputs}
	if err := sending.Setup(); err != nil {
		t.Fatal(err)
	}
	if _, err := worktest.Try(t, j.runs, tasks[0], sending.Task); err == nil {
		t.Error("a damaged run file is taken")
	}
}
