package work

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/ground/graphs"
)

// Figures are the cost of a task, and the amount of its input.
type Figures struct {
	Records, Bytes int64
	CPU            time.Duration
	Begun, Ended   time.Time
	Resident       int64 // bytes that the process held when the task ended
	// Pieces and Read count what the task read of run files, Written the bytes of its own.
	Pieces, Read, Written int64
}

// tasks bounds the number of tasks of all stages that run at a time in this process: a worker of a cluster may get
// several bundles. A task holds one of the slots and the memory in it. The owner of the process can wait for all tasks:
// a runner may give up a pipeline while some still write.
var tasks = newSlots(runtime.GOMAXPROCS(0))

// limitOnce sets the memory limit of a worker.
var limitOnce sync.Once

type slots struct {
	free chan *Memory

	// A WaitGroup would not do: it allows no task to begin while one waits for all.
	mutex   sync.Mutex
	idle    sync.Cond
	running map[Path]int // number of running tasks by folder of the job
}

func newSlots(n int) *slots {
	s := &slots{free: make(chan *Memory, n), running: map[Path]int{}}
	s.idle.L = &s.mutex
	for range n {
		s.free <- &Memory{}
	}
	return s
}

func (s *slots) begin(job Path) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running[job]++
}

func (s *slots) end(job Path) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running[job]--; s.running[job] == 0 {
		delete(s.running, job)
		s.idle.Broadcast()
	}
}

func (s *slots) wait(job Path) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for s.running[job] > 0 {
		s.idle.Wait()
	}
}

// Cores returns the number of tasks that run at a time in this process.
func Cores() int { return cap(tasks.free) }

// Drain waits until no task of the job in a folder runs in this process, and frees the memory of the tasks. It is
// called after the pipeline has ended, before its folders are removed.
func Drain(job Path) {
	tasks.wait(job)
	for range cap(tasks.free) {
		select {
		case <-tasks.free:
			tasks.free <- &Memory{}
		default: // a task of another job holds this slot
		}
	}
}

// Run does the work of one task of a stage and returns its figures. It waits for a slot. The error, a [Fault], names
// the task.
func (r Runs) Run(ctx context.Context, stage Stage, number int, work func(*Memory) error) (Figures, error) {
	tasks.begin(r.Folder)
	defer tasks.end(r.Folder)
	if r.Memory > 0 {
		limitOnce.Do(func() { LimitMemory(r.Memory) }) // for good: a worker serves one job
	}
	var m *Memory
	select {
	case m = <-tasks.free:
	case <-ctx.Done():
		return Figures{}, ctx.Err()
	}
	defer func() { tasks.free <- m }()
	if m.stage != stage {
		// The buffers of another stage would only add to this stage's memory.
		*m = Memory{stage: stage, Run: m.Run}
	}
	// Work that does not look at the context ends as soon as it reads or writes.
	m.Run.Stopped = ctx.Err
	defer func() { m.Run.Stopped = nil }()
	m.Figures = Figures{Begun: time.Now()}
	if p := r.progress(); p != nil {
		p.began(stage, m.Figures.Begun)
	}
	cpu, err := Measure(func() error { return shielded(m, work) })
	m.Figures.CPU += cpu
	m.Figures.Ended, m.Figures.Resident = time.Now(), max(m.Figures.Resident, residentBytes())
	if err != nil {
		return m.Figures, MarkFault(fmt.Errorf("%s %d: %w", stage, number, err))
	}
	return m.Figures, nil
}

// shielded turns a panic of the work into an error. A task may run in a goroutine of its own, where nobody else would
// name the task, or clean up after it.
func shielded(m *Memory, work func(*Memory) error) (err error) {
	defer func() {
		switch fault := recover(); fault {
		case nil:
		case graphs.ErrFull:
			err = graphs.ErrFull // no fault of the program
		default:
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return work(m)
}

// Measure runs work and returns the CPU time that it takes in this goroutine.
func Measure(work func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadCPU()
	err := work()
	return threadCPU() - start, err
}

// Attempt does a task, or a step between stages, from its beginning.
type Attempt func(ctx context.Context) (Done, Figures, error)

// Try makes an attempt at what has that name. If [Runs.Unreliable] is set, it first makes attempts that do not count: one
// that breaks off, one whose outcome is lost, and one at the same time as the last, or some of these.
func (r Runs) Try(ctx context.Context, name string, attempt Attempt) (done Done, figures Figures, err error) {
	if r.Unreliable == 0 {
		return attempt(ctx)
	}
	random := rand.New(rand.NewPCG(r.Unreliable, xxh3.HashString(name)))
	if random.IntN(2) == 0 {
		brittle := &brittle{Context: ctx}
		brittle.left.Store(random.Int64N(40))
		_, _, _ = attempt(brittle)
	}
	if random.IntN(3) == 0 {
		if _, _, err := attempt(ctx); err != nil {
			return done, figures, err
		}
	}
	var twins errgroup.Group
	if random.IntN(3) == 0 {
		twins.Go(func() error {
			_, _, err := attempt(ctx)
			return err
		})
	}
	done, figures, err = attempt(ctx)
	if twin := twins.Wait(); err == nil {
		err = twin
	}
	return done, figures, err
}

// brittle is a context that ends when it was asked a number of times.
type brittle struct {
	context.Context
	left atomic.Int64
}

// Err counts the question.
func (b *brittle) Err() error {
	if b.left.Add(-1) < 0 {
		return context.Canceled
	}
	return b.Context.Err()
}
