package work

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
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
	Boilerplate Stage = "boilerplate"
	Narrow      Stage = "narrow"
	Spread      Stage = "spread"
	Count       Stage = "count"
	Key         Stage = "key"
	Group       Stage = "group"
	Gather      Stage = "gather"
	Score       Stage = "score"
	Audit       Stage = "audit"
	Cluster     Stage = "cluster"
	Site        Stage = "site"
	Mirror      Stage = "mirror"
	Write       Stage = "write"
)

// The stages that a job has besides, if its documents come from the pipeline of somebody else and its results go there.
const (
	Pack   Stage = "pack"
	Unpack Stage = "unpack"
)

// Stages are the stages of a job on files, in the order of the data.
var Stages = []Stage{Read, Fingerprint, Source, Common, Strip, Boilerplate, Narrow, Spread, Count, Key, Group, Gather, Score, Audit, Cluster, Site, Mirror, Write}

// large is the right to hold more memory than an ordinary task does, because documents are large. One task of the process has
// it at a time, in whatever stage.
var large = semaphore.NewWeighted(1)

// BeginLarge waits until no other task of the process holds large documents. Who gets the right must call [EndLarge].
func BeginLarge(ctx context.Context) error { return large.Acquire(ctx, 1) }

// EndLarge gives the right back.
func EndLarge() { large.Release(1) }

// Expect says how many bytes of documents the task is about to hold. If an ordinary task holds less, it waits until no other
// task is large. The task then stays large to its end.
func (w *Desk) Expect(bytes int64) error {
	if w.beginLarge == nil || w.isLarge || w.Runs.LargeBytes == 0 || bytes <= w.Runs.LargeBytes {
		return nil
	}
	err := w.beginLarge()
	w.isLarge = err == nil
	return err
}

// endLarge ends a task that may be large. Its buffers go before the next large task gets some of its own.
func (w *Desk) endLarge() {
	if !w.isLarge {
		return
	}
	w.isLarge = false
	w.Figures.Resident = residentBytes()
	*w.Memory = Memory{stage: w.stage, Figures: w.Figures, Run: w.Run}
	debug.FreeOSMemory()
	EndLarge()
}

// programMemory is the part of a process's memory that the garbage collector does not see, in bytes. The code and the tables of
// the program take 41 MiB, and 51 MiB with its tests. The rest is for what the collector is late to free, some ten megabytes
// where other processes have the cores.
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
