package transforms

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// figures are what a task has cost, and how much went into it.
type figures struct {
	records, bytes int64
	cpu            time.Duration
	begun, ended   time.Time
	resident       int64 // bytes that the process held when the task ended
}

// tasks bounds how many tasks of all stages run at a time in this process: a
// worker of a cluster may be given several bundles. A task holds one of the slots and
// the memory in it. The owner of the process can wait for all tasks: a runner
// may give up a pipeline while some still write.
var tasks = newSlots(runtime.GOMAXPROCS(0))

type slots struct {
	free   chan *memory
	order  sharedOrder
	inputs sharedInputs
	// longLines is the right to hold a line of more than corpus.LongLine bytes. One
	// task has it at a time, and gives it back when the documents of the line are
	// fingerprinted or copied: together many would take more than there is.
	longLines *semaphore.Weighted

	// Not a WaitGroup, which allows no task to begin while one waits for all.
	mutex   sync.Mutex
	idle    sync.Cond
	running int
}

func newSlots(n int) *slots {
	s := &slots{free: make(chan *memory, n), longLines: semaphore.NewWeighted(1)}
	s.idle.L = &s.mutex
	for range n {
		s.free <- &memory{}
	}
	return s
}

func (s *slots) begin() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running++
}

func (s *slots) end() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running--; s.running == 0 {
		s.idle.Broadcast()
	}
}

func (s *slots) wait() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for s.running > 0 {
		s.idle.Wait()
	}
}

// Cores returns how many tasks run at a time in this process.
func Cores() int { return cap(tasks.free) }

// Drain waits until no task runs in this process. To be called after the
// pipeline has ended, before its folders are removed. It gives the memory of the
// tasks back.
func Drain() {
	tasks.wait()
	for range cap(tasks.free) {
		<-tasks.free
		tasks.free <- &memory{}
	}
	tasks.order.drop()
}

// Run does the work of one task of a stage and returns what that has cost. It waits for a
// slot. The error, a [Fault], says which task it was.
func Run(ctx context.Context, stage StageName, number int, work func(*memory) error) (figures, error) {
	tasks.begin()
	defer tasks.end()
	var m *memory
	select {
	case m = <-tasks.free:
	case <-ctx.Done():
		return figures{}, ctx.Err()
	}
	defer func() { tasks.free <- m }()
	if m.stage != stage {
		// What another stage worked in would lie idle here, beside what this one needs.
		*m = memory{stage: stage, run: m.run}
	}
	m.figures = figures{begun: time.Now()}
	cpu, err := measure(func() error { return shielded(m, work) })
	m.figures.cpu += cpu
	m.figures.ended, m.figures.resident = time.Now(), residentBytes()
	if err != nil {
		return m.figures, markFault(fmt.Errorf("%s %d: %w", stage, number, err))
	}
	return m.figures, nil
}

// shielded makes a panic of the work an error: a task may run in a goroutine of its
// own, where nobody else would name the task, or clear up after it.
func shielded(m *memory, work func(*memory) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	return work(m)
}

// measure runs work and returns the CPU time that it takes in this goroutine.
func measure(work func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadCPU()
	err := work()
	return threadCPU() - start, err
}
