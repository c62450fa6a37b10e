package work

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
)

// TestSlots: no more tasks run at a time than there are cores, and no two have the same memory.
func TestSlots(t *testing.T) {
	job := Runs{Folder: "slots"}
	var running atomic.Int32
	var mutex sync.Mutex
	inUse := map[*Memory]bool{}
	var group sync.WaitGroup
	for number := range 10 * Cores() {
		group.Go(func() {
			_, err := job.Run(t.Context(), "slotted", number, func(m *Memory) error {
				if n := running.Add(1); int(n) > Cores() {
					t.Errorf("%d tasks run on %d cores", n, Cores())
				}
				mutex.Lock()
				if inUse[m] {
					t.Error("two tasks have the same memory")
				}
				inUse[m] = true
				mutex.Unlock()
				m.Figures.Records += int64(number) // a race, if two tasks had it
				mutex.Lock()
				inUse[m] = false
				mutex.Unlock()
				running.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	Drain(job.Folder)
}

// TestMemoryOfAStage: buffers go from one task of a stage to the next, and to no other stage. Figures start again.
func TestMemoryOfAStage(t *testing.T) {
	job := Runs{Folder: "memory"}
	Drain(job.Folder)
	run := func(stage Stage, work func(*Memory)) Figures {
		var figures Figures
		for number := range Cores() { // all slots take part
			var err error
			if figures, err = job.Run(t.Context(), stage, number, func(m *Memory) error {
				work(m)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		return figures
	}
	figures := run("one", func(m *Memory) {
		m.Buffers[0] = make([]byte, 1<<10)
		m.Figures.Records, m.Figures.Bytes = 7, 8
	})
	if figures.Records != 7 || figures.Bytes != 8 || figures.Ended.Before(figures.Begun) || figures.Begun.IsZero() ||
		figures.CPU < 0 {
		t.Errorf("figures %+v", figures)
	}
	run("one", func(m *Memory) {
		if cap(m.Buffers[0]) < 1<<10 || m.Figures.Records != 0 || m.Figures.Bytes != 0 {
			t.Errorf("a buffer of %d bytes, figures %+v", cap(m.Buffers[0]), m.Figures)
		}
	})
	run("two", func(m *Memory) {
		if cap(m.Buffers[0]) > 0 {
			t.Errorf("a buffer of %d bytes of another stage", cap(m.Buffers[0]))
		}
	})
	Drain(job.Folder)
}

// TestPanics: a task that panics fails with an error that names it, and its slot is free again.
func TestPanics(t *testing.T) {
	job := Runs{Folder: "panics"}
	for range 2 * Cores() {
		_, err := job.Run(t.Context(), Score, 12, func(*Memory) error { panic("no way") })
		fault, found := FaultOf(err)
		if !found || fault.Kind != OtherFault || !strings.HasPrefix(fault.Text, "score 12: panic: no way") ||
			!strings.Contains(fault.Text, "TestPanics") {
			t.Fatalf("fault %+v", fault)
		}
	}
	Drain(job.Folder)
}

// TestListOnDisk: a task whose lists do not fit on the disk fails with the error of the system.
func TestListOnDisk(t *testing.T) {
	_, err := Runs{Folder: "lists"}.Run(t.Context(), Write, 4, func(*Memory) error {
		list := paged.New[int, uint64](&paged.Store{Folder: filepath.Join(t.TempDir(), "none"), Bytes: 1}, 1<<16)
		for i := range list.Len() {
			list.Set(i, 1)
		}
		return nil
	})
	if fault, found := FaultOf(err); !found || fault.Errno != "ENOENT" ||
		!strings.HasPrefix(fault.Text, "write 4: hold a list on the local disk: ") {
		t.Errorf("error %v", err)
	}
}

// TestMeasure gives back the error of the work.
func TestMeasure(t *testing.T) {
	broken := errors.New("broken")
	if cpu, err := Measure(func() error { return broken }); cpu < 0 || !errors.Is(err, broken) {
		t.Errorf("%v of CPU time, error %v", cpu, err)
	}
}

// TestLimitMemory: a limit leaves room for the program itself, and goes when it is restored.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	LimitMemory(0)()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("no limit makes one of %d bytes", got)
	}
	const memory = 8 << 30
	restore := LimitMemory(memory)
	if got := debug.SetMemoryLimit(-1); got >= memory || got < memory/2 || got == math.MaxInt64 {
		t.Errorf("a process of %d bytes may have %d on its heap", int64(memory), got)
	}
	if restore(); debug.SetMemoryLimit(-1) != before {
		t.Errorf("the limit is %d, want %d as before", debug.SetMemoryLimit(-1), before)
	}
}

// TestTaskContext: a task gets the pieces of its shard and no others. What it writes is in the run of its outcome.
func TestTaskContext(t *testing.T) {
	dir := t.TempDir()
	runs := Runs{Folder: Path(dir), Held: 10}
	paths := []string{
		writeRun(t, dir, 1, records.Keys, 0, 1), writeRun(t, dir, 2, records.Keys, 1),
		writeRun(t, dir, 3, records.IDs, 1),
	}
	var tasks []Task
	p := Planning{
		Runs:   runs,
		Emit:   func(task Task) { tasks = append(tasks, task) },
		Counts: findings.Counts{Documents: 77},
	}
	if err := p.Deliver(Delivery{Step: 3, Needed: []runfile.Kind{records.Keys}}, paths); err != nil || len(tasks) != 2 {
		t.Fatalf("tasks %+v (%v)", tasks, err)
	}
	do := func(task Task, do func(context.Context, Task, *TaskContext) error) (o Outcome, err error) {
		w := TaskContext{Memory: &Memory{}, Runs: runs, Outcome: &o}
		err = w.Do(t.Context(), task, do)
		return o, err
	}
	o, err := do(tasks[1], func(_ context.Context, task Task, w *TaskContext) error {
		if task.Number != tasks[1].Number || task.Step != 3 || task.Documents != 77 {
			t.Errorf("task %+v, want %+v", task, tasks[1])
		}
		keys, err := w.Read(1, records.Keys)
		if err != nil || string(keys) != "\x01\x01\x02\x01" || &keys[0] != &w.Buffers[1][0] {
			t.Errorf("keys %q (%v)", keys, err)
		}
		if !w.Has(records.Keys) || w.Has(records.IDs) || w.Has(records.Sets) {
			t.Errorf("pieces %+v: the ids were not asked for", w.Pieces)
		}
		last, err := w.ReadPiece(0, w.Pieces[len(w.Pieces)-1])
		if err != nil || string(last) != "\x02\x01" {
			t.Errorf("the last piece is %q (%v)", last, err)
		}
		return w.Run.Section(records.Edges, 4, []byte("written"))
	})
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := runfile.Pieces(o.Run)
	if err != nil || len(pieces) != 1 || pieces[0].Kind != records.Edges || pieces[0].Shard != 4 {
		t.Errorf("pieces %+v (%v)", pieces, err)
	}

	before := files(t, dir)
	broken := errors.New("broken")
	o, err = do(tasks[0], func(_ context.Context, _ Task, w *TaskContext) error {
		return errors.Join(w.Run.Section(records.Edges, 0, make([]byte, 1000)), broken)
	})
	if !errors.Is(err, broken) || o.Run != "" || files(t, dir) != before {
		t.Errorf("a task that fails: error %v, run %q, %d files, want %d", err, o.Run, files(t, dir), before)
	}
	if o, err = do(Task{}, func(context.Context, Task, *TaskContext) error { return nil }); err != nil ||
		o.Run != "" || files(t, dir) != before {
		t.Errorf("a task that writes nothing: error %v, run %q, %d files, want %d", err, o.Run, files(t, dir), before)
	}
	nothing := func(context.Context, Task, *TaskContext) error {
		t.Error("a task without its catalog is done")
		return nil
	}
	if _, err := do(Task{Catalog: filepath.Join(dir, "none")}, nothing); err == nil {
		t.Error("a catalog that is not there is read")
	}
}

// files returns the number of files in a folder.
func files(t *testing.T, dir string) int {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
