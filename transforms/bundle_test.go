package transforms

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// task is work that is a function.
type task func(context.Context, work.Task, *work.TaskContext) error

// Task calls the function.
func (f task) Task(ctx context.Context, t work.Task, w *work.TaskContext) error { return f(ctx, t, w) }

// elements returns tasks of some numbers, as a runner hands them over.
func elements(n int) (all [][]byte) {
	for i := range n {
		all = append(all, (&work.Task{Number: i}).Encode())
	}
	return all
}

// finish finishes a bundle and returns the numbers of the tasks whose outcomes it emits.
func finish(t *testing.T, b *bundle) (numbers []int, err error) {
	t.Helper()
	err = b.FinishBundle(t.Context(), func(element []byte) {
		outcomes, _, err := work.ReadOutcomes(one(element))
		if err != nil || len(outcomes) != 1 {
			t.Fatalf("%d outcomes in an element (%v)", len(outcomes), err)
		}
		numbers = append(numbers, outcomes[0].Number)
	})
	return numbers, err
}

// one iterates over one element, as Beam does.
func one(element []byte) func(*[]byte) bool { return each([][]byte{element}) }

// each iterates over elements, as Beam does.
func each(all [][]byte) func(*[]byte) bool {
	return func(to *[]byte) bool {
		if len(all) == 0 {
			return false
		}
		*to, all = all[0], all[1:]
		return true
	}
}

// TestBundle: the tasks of a bundle run side by side, no more than its lanes, and their outcomes come in the order of
// the elements, whichever ends first. The memory of an element is the runner's again as soon as its task has begun.
func TestBundle(t *testing.T) {
	for _, lanes := range []int{1, min(2, runtime.GOMAXPROCS(0))} { // a process has as many slots as cores
		b := &bundle{Stage: work.Key, Runs: worktest.Runs(t), Lanes: lanes}
		var now, most atomic.Int64
		full := make(chan struct{}) // closed when all lanes are at work
		begun := sync.OnceFunc(func() { close(full) })
		do := task(func(_ context.Context, given work.Task, w *work.TaskContext) error {
			n := now.Add(1)
			defer now.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if int(n) == lanes {
				begun()
			}
			<-full
			if w.Outcome.Number != given.Number {
				t.Errorf("task %d writes the outcome %d", given.Number, w.Outcome.Number)
			}
			return nil
		})
		for bundles := range 2 { // a DoFn gets one bundle after the other
			for _, element := range elements(9) {
				if err := b.begin(t.Context(), element, do); err != nil {
					t.Fatal(err)
				}
				clear(element)
			}
			if got, err := finish(t, b); err != nil || !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
				t.Errorf("%d lanes, bundle %d: outcomes %v (%v)", lanes, bundles, got, err)
			}
		}
		if most.Load() != int64(lanes) {
			t.Errorf("%d tasks ran at a time, want %d", most.Load(), lanes)
		}
		if got, err := finish(t, b); err != nil || got != nil {
			t.Errorf("an empty bundle: %v (%v)", got, err)
		}
	}
}

// TestBundleFails: the first task that fails ends the others, and its fault names the stage and the task. No outcome is
// emitted, and nothing is left of the bundle.
func TestBundleFails(t *testing.T) {
	b, broken := &bundle{Stage: work.Key, Runs: worktest.Runs(t), Lanes: 2}, errors.New("broken")
	do := task(func(ctx context.Context, given work.Task, _ *work.TaskContext) error {
		if given.Number == 3 {
			return broken
		}
		if given.Number == 2 {
			<-ctx.Done() // the fault of the other task ends it
			return ctx.Err()
		}
		return nil
	})
	var err error
	for _, element := range elements(6) {
		if err = b.begin(t.Context(), element, do); err != nil {
			break
		}
	}
	var got []int
	if err == nil { // else the runner finishes no bundle
		got, err = finish(t, b)
	}
	if err == nil || !strings.Contains(err.Error(), "key 3") || !strings.Contains(err.Error(), "broken") ||
		strings.Contains(err.Error(), "key 2") || len(got) > 0 {
		t.Errorf("error %v, outcomes %v", err, got)
	}
	if err := b.Teardown(); err != nil || len(b.begun) > 0 {
		t.Errorf("%d tasks are left (%v)", len(b.begun), err)
	}
}

// TestTeardown ends the tasks of a bundle that nobody finishes, and waits for them.
func TestTeardown(t *testing.T) {
	b := &bundle{Stage: work.Key, Runs: worktest.Runs(t), Lanes: 4}
	var begun, ended atomic.Int64
	do := task(func(ctx context.Context, _ work.Task, _ *work.TaskContext) error {
		begun.Add(1)
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	})
	for _, element := range elements(4) {
		if err := b.begin(t.Context(), element, do); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Teardown(); err == nil || ended.Load() != begun.Load() || len(b.begun) > 0 {
		t.Errorf("%d of %d tasks have ended, %d are left (%v)", ended.Load(), begun.Load(), len(b.begun), err)
	}
	if err := new(bundle).Teardown(); err != nil {
		t.Errorf("a bundle that did not begin: %v", err)
	}
}

// setUpOnce counts how often it is set up, and fails if it is told to.
type setUpOnce struct {
	times int
	fault error
}

func (s *setUpOnce) Setup() error {
	s.times++
	return s.fault
}

func (s *setUpOnce) Task(context.Context, work.Task, *work.TaskContext) error { return nil }

// TestSetup: work is set up once, before its first task, and again only if that failed.
func TestSetup(t *testing.T) {
	b := &bundle{Stage: work.Key, Runs: worktest.Runs(t), Lanes: 1}
	do := &setUpOnce{fault: errors.New("no list of inputs")}
	begin := func() error { return b.begin(t.Context(), elements(1)[0], do) }
	if err := begin(); err == nil || !strings.Contains(err.Error(), "key: ") ||
		!strings.Contains(err.Error(), "no list of inputs") {
		t.Errorf("error %v", err)
	}
	do.fault = nil
	for range 3 {
		if err := begin(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := finish(t, b); err != nil || len(got) != 3 || do.times != 2 {
		t.Errorf("%d tasks, set up %d times (%v)", len(got), do.times, err)
	}
}

// TestRecalledBundle: a job that goes on gets the outcomes of tasks that were done before, and does the others.
func TestRecalledBundle(t *testing.T) {
	runs := worktest.Runs(t)
	runs.Resumable = true
	var mutex sync.Mutex
	var done []int
	do := task(func(_ context.Context, given work.Task, w *work.TaskContext) error {
		mutex.Lock()
		defer mutex.Unlock()
		done = append(done, given.Number)
		w.Outcome.Counts.Documents = int64(100 + given.Number)
		return nil
	})
	for _, n := range []int{3, 3, 5} { // the last bundle has two tasks more
		b := &bundle{Stage: work.Key, Runs: runs, Lanes: 2}
		for _, element := range elements(n) {
			if err := b.begin(t.Context(), element, do); err != nil {
				t.Fatal(err)
			}
		}
		documents := int64(0)
		err := b.FinishBundle(t.Context(), func(element []byte) {
			_, counts, err := work.ReadOutcomes(one(element))
			if documents += counts.Documents; err != nil {
				t.Error(err)
			}
		})
		if want := int64(100*n + n*(n-1)/2); err != nil || documents != want {
			t.Errorf("%d tasks: %d documents, want %d (%v)", n, documents, want, err)
		}
	}
	if slices.Sort(done); !slices.Equal(done, []int{0, 1, 2, 3, 4}) {
		t.Errorf("the tasks %v were done, want each once", done)
	}
}
