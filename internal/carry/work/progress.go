package work

import (
	"slices"
	"sync"
	"time"
)

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
