package methods

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
	"mirrorbeam/internal/work/worktest"
)

// count returns the outcomes of counting the shingles of a scene in some tasks, with those of the blocks.
func (s *scene) count(t *testing.T, lanes int) []work.Outcome {
	t.Helper()
	m, _ := Of(Exact)
	outcomes := s.blocks(t, m)
	count, counting := CountPlanning{Lanes: lanes, Parameters: s.p}, Counting{Splits: 2}
	_, tasks := worktest.Plan(t, s.runs, slices.Clone(outcomes), count.Plan)
	if want := min(lanes, 2); len(tasks) != want {
		t.Fatalf("%d tasks count two splits, want %d", len(tasks), want)
	}
	for _, o := range worktest.Do(t, s.runs, tasks, counting.Task) {
		o.Stage = work.Count
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// TestCountsAddUp: the order of shingles is that of a counter that has seen all documents, however many tasks have
// counted, and in whatever order they come.
func TestCountsAddUp(t *testing.T) {
	s := newScene(t)
	want := s.order().Bytes()
	order := Ordering{Method: Exact, Parameters: s.p}
	for _, lanes := range []int{1, 2, 9} {
		outcomes := s.count(t, lanes)
		for range 2 {
			slices.Reverse(outcomes)
			_, tasks := worktest.Plan(t, s.runs, slices.Clone(outcomes), order.Plan)
			if len(tasks) != 2 {
				t.Fatalf("%d tasks for two splits", len(tasks))
			}
			got, err := readOrder(tasks[0].Catalog)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%d lanes: another order", lanes)
			}
		}
	}
	if _, err := readOrder(t.TempDir() + "/none"); err == nil {
		t.Error("an order that is not there is read")
	}
}

// TestNothingToCount: without a document there is no order, and no task.
func TestNothingToCount(t *testing.T) {
	s := newScene(t)
	order := Ordering{Method: Exact, Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, nil, order.Plan); len(tasks) > 0 {
		t.Errorf("tasks %+v", tasks)
	}
	s.p.AllPairsUpTo = int64(len(s.texts))
	count := CountPlanning{Lanes: 2, Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, s.blocks(t, unknown), count.Plan); len(tasks) > 0 {
		t.Errorf("a small corpus is counted by %d tasks", len(tasks))
	}
	// Documents of the reference count as well.
	s.p.AllPairsUpTo--
	outcomes := s.blocks(t, unknown)
	outcomes[0].Counts = work.Counts{ReferenceDocuments: outcomes[0].Counts.Documents}
	count = CountPlanning{Lanes: 2, Parameters: s.p}
	if _, tasks := worktest.Plan(t, s.runs, outcomes, count.Plan); len(tasks) != 2 {
		t.Errorf("a corpus that is not small is counted by %d tasks", len(tasks))
	}
}

// planning returns what a step gets that may fail.
func (s *scene) planning(outcomes []work.Outcome) work.Planning {
	counts := work.Counts{Documents: int64(len(s.texts))}
	return work.Planning{Memory: &work.Memory{}, Runs: s.runs, Outcomes: outcomes, Counts: counts, Emit: func(work.Task) {}}
}

// TestPartsOfCounters: counters of different sizes cannot be added up.
func TestPartsOfCounters(t *testing.T) {
	s := newScene(t)
	outcomes := s.count(t, 2)
	outcomes[len(outcomes)-1].Run = worktest.Write(t, s.runs, func(run *runfile.Writer) error {
		return errors.Join(run.Section(records.Counter, 0, make([]byte, 64)), run.Section(records.Counter, 1, make([]byte, 64)))
	})
	order := Ordering{Method: Exact, Parameters: s.p}
	p := s.planning(outcomes)
	if err := order.Plan(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "add up counts") {
		t.Errorf("error %v", err)
	}
}

// TestPlannedMethods: a step that names no method fails.
func TestPlannedMethods(t *testing.T) {
	s := newScene(t)
	p := s.planning(s.count(t, 1))
	order := Ordering{Method: "unheard-of", Parameters: s.p}
	if err := order.Plan(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "unheard-of") {
		t.Errorf("error %v", err)
	}
}
