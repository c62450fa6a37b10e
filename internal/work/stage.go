package work

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"mirrorbeam.dev/internal/storage"
)

// Stage is the name of a stage. A stage has one name everywhere: file, scope, metrics.
type Stage string

// The stages.
const (
	Read        Stage = "read"
	Fingerprint Stage = "fingerprint"
	Source      Stage = "source"
	Common      Stage = "common"
	Strip       Stage = "strip"
	Trim        Stage = "trim"
	Prune       Stage = "prune"
	Spread      Stage = "spread"
	Count       Stage = "count"
	Key         Stage = "key"
	Group       Stage = "group"
	Gather      Stage = "gather"
	Score       Stage = "score"
	Audit       Stage = "audit"
	Cluster     Stage = "cluster"
	Site        Stage = "site"
	Guard       Stage = "guard"
	Mirror      Stage = "mirror"
	Write       Stage = "write"
)

// The further stages that a job has if its documents come from the pipeline of somebody else and its results go there.
const (
	Pack   Stage = "pack"
	Unpack Stage = "unpack"
)

// Stages are the stages of a job on files, in the order of the data.
var Stages = []Stage{
	Read, Fingerprint, Source, Common, Strip, Trim, Prune, Spread, Count, Key, Group, Gather, Score,
	Audit, Cluster, Site, Guard, Mirror, Write,
}

// Names of the metrics of a stage that say what its tasks asked of buckets.
const (
	ReceivedBytes = "received_bytes"
	FetchedBytes  = "fetched_bytes"
	SentBytes     = "sent_bytes"
	AnsweringNS   = "answering_ns" // until reads were answered
)

// RequestsMetric returns the name of the metric that counts requests of a kind.
func RequestsMetric(kind storage.Kind) string { return "requests_" + kind.String() }

// large is the right to hold more memory than an ordinary task does, because documents are large. One task of the
// process has it at a time, in whatever stage.
var large = semaphore.NewWeighted(1)

// BeginLarge waits until no other task of the process holds large documents. Who gets the right must call [EndLarge].
func BeginLarge(ctx context.Context) error { return large.Acquire(ctx, 1) }

// EndLarge gives the right back.
func EndLarge() { large.Release(1) }

// Expect says how many bytes of documents the task is about to hold. If an ordinary task holds less, it waits until no
// other task is large. The task then stays large to its end.
func (w *TaskContext) Expect(bytes int64) error {
	if w.beginLarge == nil || w.isLarge || w.Runs.LargeBytes == 0 || bytes <= w.Runs.LargeBytes {
		return nil
	}
	err := w.beginLarge()
	w.isLarge = err == nil
	return err
}

// endLarge ends a task that may be large. Its buffers go before the next large task gets some of its own.
func (w *TaskContext) endLarge() {
	if !w.isLarge {
		return
	}
	w.isLarge = false
	w.Figures.Resident = residentBytes()
	*w.Memory = Memory{stage: w.stage, Figures: w.Figures, Run: w.Run}
	debug.FreeOSMemory()
	EndLarge()
}

// programMemory is the part of a process's memory that the garbage collector does not see, in bytes. The code and the
// tables of the program take 41 MiB, and 51 MiB with its tests. The rest is for what the collector is late to free,
// some ten megabytes where other processes have the cores.
const programMemory = 64 << 20

// LimitMemory makes the garbage collector work harder as this process nears the size, 0 for none. The function that it
// returns ends this.
func LimitMemory(memory int64) (restore func()) {
	if memory == 0 {
		return func() {}
	}
	// The size is what the system sees. The collector does not see the program itself, nor files mapped for it.
	before := debug.SetMemoryLimit(memory - programMemory)
	return func() { debug.SetMemoryLimit(before) }
}

// Progress counts what the tasks of a job have done in this process. Nothing that makes results looks at it.
type Progress struct {
	mutex  sync.Mutex
	stages []StageProgress
}

// StageProgress is how far a stage has come.
type StageProgress struct {
	Stage Stage
	// Tasks is the number of tasks that are known so far, and Done how many of them have ended.
	Tasks, Done int64
	// Records and Bytes are the input of the tasks that have ended, and Written the bytes of their run files.
	Records, Bytes, Written int64
	// Resident is the memory of the process, in bytes, when a task of the stage ended last.
	Resident int64
	// Begun is when the first task began, and Ended when the last of those that are done ended; zero if there is none.
	Begun, Ended time.Time
}

// watched holds what is counted, by the folders of the jobs.
var watched sync.Map

// Watch counts the tasks of the job in a folder until end is called.
func Watch(job Path) (p *Progress, end func()) {
	p = &Progress{}
	watched.Store(job, p)
	return p, func() { watched.CompareAndDelete(job, p) }
}

// Stages returns how far the stages have come, in the order in which they began.
func (p *Progress) Stages() []StageProgress {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.stages)
}

func (p *Progress) of(stage Stage, change func(*StageProgress)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	at := slices.IndexFunc(p.stages, func(s StageProgress) bool { return s.Stage == stage })
	if at < 0 {
		at = len(p.stages)
		p.stages = append(p.stages, StageProgress{Stage: stage})
	}
	change(&p.stages[at])
}

func (r Runs) progress() *Progress {
	p, isWatched := watched.Load(r.Folder)
	if !isWatched {
		return nil
	}
	return p.(*Progress)
}

// Expect notes that a stage will have the given number of further tasks.
func (r Runs) Expect(stage Stage, tasks int) {
	if p := r.progress(); p != nil && tasks > 0 {
		p.of(stage, func(s *StageProgress) { s.Tasks += int64(tasks) })
	}
}

func (p *Progress) began(stage Stage, at time.Time) {
	p.of(stage, func(s *StageProgress) {
		if s.Begun.IsZero() {
			s.Begun = at
		}
	})
}

// Ended notes that a task has ended well. The figures of one that an earlier run had done are zero.
func (r Runs) Ended(stage Stage, f Figures) {
	p := r.progress()
	if p == nil {
		return
	}
	p.of(stage, func(s *StageProgress) {
		s.Done++
		s.Tasks = max(s.Tasks, s.Done)
		s.Records, s.Bytes, s.Written = s.Records+f.Records, s.Bytes+f.Bytes, s.Written+f.Written
		if f.Resident > 0 {
			s.Resident = f.Resident
		}
		if f.Ended.After(s.Ended) {
			s.Ended = f.Ended
		}
	})
}
