package work

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/panics"
)

// Figures are the cost of a task, and the amount of its input.
type Figures struct {
	Records, Bytes int64
	Compared       int64 // pairs of sets or texts that the task went through, since no bound had ruled them out
	CPU            time.Duration
	Begun, Ended   time.Time
	Resident       int64 // bytes that the process held when the task ended
	// Pieces and Read count what the task read of run files, Written the bytes of its own.
	Pieces, Read, Written int64
	// Spent is what the process has asked of buckets since the last task of it ended.
	Spent storage.Spent
}

// tasks bounds the number of tasks of all stages that run at a time in this process: a worker of a cluster may get
// several bundles. A task holds one of the slots and the memory in it. The owner of the process can wait for all tasks:
// a runner may give up a pipeline while some still write.
var tasks = newSlots(runtime.GOMAXPROCS(0))

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

// Run waits for a slot, does one task of a stage and returns its figures. The error, a [Fault], names the task.
func (r Runs) Run(ctx context.Context, stage Stage, number int, work func(*Memory) error) (Figures, error) {
	tasks.begin(r.Folder)
	defer tasks.end(r.Folder)
	if r.Patience > 0 {
		storage.SetWaiting(storage.Waiting{Patience: r.Patience})
	}
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
	cpu, err := Measure(func() error { return Shielded(func() error { return work(m) }) })
	m.Figures.CPU += cpu
	m.Figures.Ended, m.Figures.Resident = time.Now(), max(m.Figures.Resident, residentBytes())
	if err != nil {
		return m.Figures, MarkFault(fmt.Errorf("%s %d: %w", stage, number, err))
	}
	m.Figures.Spent = storage.TakeSpent()
	return m.Figures, nil
}

// Shielded turns a panic of the work into an error. A task, or a part of it, may run in a goroutine of its own, where
// nobody else would name the task, or clean up after it.
func Shielded(work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			if err = panics.OfTask(value); err == nil {
				err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
			}
		}
	}()
	return work()
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

// Rehearse makes attempts that do not count before the one that does, with the seed of what goes wrong. Package
// worktest sets it.
var Rehearse func(ctx context.Context, seed uint64, name string, attempt Attempt) (Done, Figures, error)

// Try makes an attempt at what has that name, or rehearses it if [Runs.Unreliable] is set.
func (r Runs) Try(ctx context.Context, name string, attempt Attempt) (done Done, figures Figures, err error) {
	if r.Unreliable != 0 {
		return Rehearse(ctx, r.Unreliable, name, attempt)
	}
	return attempt(ctx)
}

// A runner of this process never runs a task twice. So a file that no later task reads need not stay until the job
// ends. Removing it saves a third of the job's disk space. It also frees the memory in which the system caches the
// file, for the next files.

// ReleaseStage removes the run files of a stage. All of their readers are done.
func (r Runs) ReleaseStage(outcomes []Outcome, stage Stage) {
	if !r.Release {
		return
	}
	notePeak(string(r.Folder))
	for _, o := range outcomes {
		if o.Stage == stage && o.Run != "" {
			_ = storage.Remove(o.Run) // a file that stays is removed with the folder
		}
	}
}

// ReleaseSets gives back the disk space of the sets of the sketch blocks.
func (r Runs) ReleaseSets(outcomes []Outcome) {
	if !r.Release {
		return
	}
	for _, o := range outcomes {
		if o.Stage != Fingerprint && o.Stage != Strip || o.Run == "" {
			continue
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			continue // the next reader reports the error
		}
		var sets []storage.Stretch
		for _, piece := range pieces {
			if slices.Contains([]runfile.Kind{records.Sets, records.WholeSets, records.CommonParts}, piece.Kind) {
				sets = append(sets, storage.Stretch{Offset: piece.Offset, Length: piece.Length})
			}
		}
		storage.Release(o.Run, sets)
	}
}

// notePeak notes the size of the job's folder if it is a new maximum. Steps that release do not run side by side.
func notePeak(temp string) {
	peak := strconv.FormatInt(TempBytes(temp), 10)
	_ = storage.WriteFile(peakPath(temp), []byte(peak)) // only a figure for the summary
}

func peakPath(temp string) string { return storage.Join(temp, "peak-bytes") }

// TempBytes returns the largest size that the job's folder has had, in bytes.
func TempBytes(temp string) int64 {
	noted, _ := storage.ReadFile(peakPath(temp))
	peak, _ := strconv.ParseInt(string(noted), 10, 64)
	return max(peak, storage.Used(temp))
}

// Path is the path of a file: bytes in any encoding. The parameters of tasks travel as JSON, which replaces bytes that
// are not UTF-8 by U+FFFD. So a Path travels as bytes.
type Path string

func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(p)) }

func (p *Path) UnmarshalJSON(b []byte) error {
	var path []byte
	if err := json.Unmarshal(b, &path); err != nil {
		return err
	}
	*p = Path(path)
	return nil
}

// Runs says where the tasks of a job write their run files, and how.
type Runs struct {
	// Folder is the job's own. All workers share it.
	Folder Path
	// Held is the number of bytes of its run file that a task buffers, so that sections grow to a size worth a read.
	Held int
	// Ahead is how many bytes of input files a task reads before it wants them, and how many of results it finishes
	// while it writes others.
	Ahead int64
	// LargeBytes is how many bytes of documents an ordinary task holds at most. Tasks that hold more take turns; 0:
	// they do not. It changes no result.
	LargeBytes int64
	// Release lets run files go as soon as no later task reads them. It requires a runner that never runs a task twice.
	Release bool
	// Resumable makes tasks note what they have done, and take up what they find noted. It excludes Release.
	Resumable bool
	// Unreliable, if not 0, makes tasks run as on a cluster that loses workers: see [Rehearse]. It is the seed of what
	// goes wrong. Tests set it, to see that nothing of that changes results. It excludes Release.
	Unreliable uint64
	// Memory is the size in bytes that a worker of a cluster aims to stay below; 0: no limit, or one that the process
	// has set itself, see [Room].
	Memory int64
	// Patience is how long an operation on a bucket goes on that makes no progress; 0: the usual time.
	Patience time.Duration
}

// Begin begins a run file. It reuses the memory of the writer.
func (r Runs) Begin(run *runfile.Writer) { run.Reset(string(r.Folder), r.Held) }

// Room is how much memory a process may take that has the machine, or its control group, to itself: three quarters of
// the least limit of the control groups that it is in, or of the machine's memory if that is less. The rest is for what
// the system counts to the process in addition to its own pages, such as files that it has just read. Root is the root
// of the file system. Without limits to be read, as outside of Linux, it is 0.
func Room(root fs.FS) int64 {
	least := machineMemory(root)
	for line := range strings.Lines(readText(root, "proc/self/cgroup")) {
		_, after, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(after, ":")
		top, file := "sys/fs/cgroup", "memory.max" // version 2 has one tree
		if controllers != "" {
			if !strings.Contains(","+controllers+",", ",memory,") {
				continue
			}
			top, file = path.Join(top, controllers), "memory.limit_in_bytes"
		}
		// The limits of a group also hold for all groups in it. In a container the path may be one of the host, which
		// is not there, and then the top is the group of the container.
		for folder := path.Join(top, group); strings.HasPrefix(folder, top); folder = path.Dir(folder) {
			limit, err := strconv.ParseInt(readText(root, path.Join(folder, file)), 10, 64)
			if err == nil && limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
		}
	}
	return least / 4 * 3
}

func machineMemory(root fs.FS) int64 {
	_, after, _ := strings.Cut(readText(root, "proc/meminfo"), "MemTotal:")
	for field := range strings.FieldsSeq(after) {
		kilobytes, _ := strconv.ParseInt(field, 10, 64)
		return kilobytes << 10
	}
	return 0
}

// readText returns the content of a file of the system, or nothing if it cannot be read.
func readText(root fs.FS, name string) string {
	content, _ := fs.ReadFile(root, name)
	return strings.TrimSpace(string(content))
}
