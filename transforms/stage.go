package transforms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"golang.org/x/sync/semaphore"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
)

// Stages are the names of the stages in the order of the data. A stage has one
// name everywhere: file, scope, metrics.
var Stages = []string{"read", "fingerprint", "count", "key", "group", "gather", "score", "audit", "cluster", "write"}

// stage is what the DoFns of one stage share: its name and its metrics.
type stage struct {
	name                         string
	tasks, records, bytes, cpuNS beam.Counter
	span, resident               beam.Distribution
}

// newStage defines the metrics of a stage.
func newStage(name string) *stage {
	return &stage{
		name:    name,
		tasks:   beam.NewCounter(name, "tasks"),
		records: beam.NewCounter(name, "records"),
		bytes:   beam.NewCounter(name, "bytes"),
		cpuNS:   beam.NewCounter(name, "cpu_ns"),
		span:    beam.NewDistribution(name, "unix_ms"),

		resident: beam.NewDistribution(name, "resident_bytes"),
	}
}

// figures are what a task has cost, and how much went into it.
type figures struct {
	records, bytes int64
	cpu            time.Duration
	begun, ended   time.Time
	resident       int64 // bytes that the process held when the task ended
}

// count adds the figures of a task to the metrics of the stage. Beam lets nobody do
// that but the goroutine that it has called.
func (s *stage) count(ctx context.Context, f figures) {
	s.tasks.Inc(ctx, 1)
	s.records.Inc(ctx, f.records)
	s.bytes.Inc(ctx, f.bytes)
	s.cpuNS.Inc(ctx, int64(f.cpu))
	s.span.Update(ctx, f.begun.UnixMilli())
	s.span.Update(ctx, f.ended.UnixMilli())
	s.resident.Update(ctx, f.resident)
}

// memory is what a task works in. It goes from one task of a stage to the next,
// since memory that a task would leave to the collector has to be mapped anew for
// the next, page by page.
type memory struct {
	stage   *stage
	figures figures // of the task at hand
	run     runfile.Writer
	buffers [3][]byte
	keys    []candidates.Record
	nodes   numbering.Set
	hashes  []uint64
	pairs   []uint64
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

// run does the work of one task and returns what that has cost. The error says which
// task it was.
func (s *stage) run(ctx context.Context, number int, work func(*memory) error) (figures, error) {
	tasks.begin()
	defer tasks.end()
	var m *memory
	select {
	case m = <-tasks.free:
	case <-ctx.Done():
		return figures{}, ctx.Err()
	}
	defer func() { tasks.free <- m }()
	if m.stage != s {
		// What another stage worked in would lie idle here, beside what this one needs.
		*m = memory{stage: s, run: m.run}
	}
	m.figures = figures{begun: time.Now()}
	cpu, err := measure(func() error { return shielded(m, work) })
	m.figures.cpu += cpu
	m.figures.ended, m.figures.resident = time.Now(), residentBytes()
	if err != nil {
		return m.figures, markFault(fmt.Errorf("%s %d: %w", s.name, number, err))
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

// runAlone does the work of a task in the goroutine that Beam has called. What it puts
// out is held back until it has ended: an element may begin other tasks, and wait for
// the slot that this one holds.
func (s *stage) runAlone(ctx context.Context, number int, emit func([]byte), work func(*memory, func([]byte)) error) error {
	var elements [][]byte
	f, err := s.run(ctx, number, func(m *memory) error {
		return work(m, func(element []byte) { elements = append(elements, element) })
	})
	if err != nil {
		return err
	}
	s.count(ctx, f)
	for _, element := range elements {
		emit(element)
	}
	return nil
}

// measure runs work and returns the CPU time that it takes in this goroutine.
func measure(work func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadCPU()
	err := work()
	return threadCPU() - start, err
}

// outcome is the element that a task puts out.
type outcome struct {
	Stage  string
	Number int
	// Run is the path of the task's run file, "" if it wrote no record.
	Run     string `json:",omitempty"`
	Counts  Counts
	Skipped Skipped
	// Shingles is how many hashes the sets of a sketch block hold.
	Shingles int64 `json:",omitempty"`
	// Sampled is how many documents the audit has sampled, in all.
	Sampled int `json:",omitempty"`
	// SampledAll says that these are all documents with words.
	SampledAll bool `json:",omitempty"`
	// AllPairs says that the task has compared all pairs of documents.
	AllPairs bool `json:",omitempty"`
	// Crowds are the groups that wait until all are known.
	Crowds []crowd       `json:",omitempty"`
	Files  []output.File `json:",omitempty"`
}

// Counts is what the tasks counted of the corpus; see summary.json in the
// documentation.
type Counts struct {
	Documents int64 `json:"documents"`
	Bytes     int64 `json:"bytes"`
	// ReferenceDocuments and ReferenceBytes are not part of the two above.
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	ReferenceBytes     int64 `json:"reference_bytes,omitempty"`
	Rejected           int64 `json:"rejected"`
	InvalidUTF8        int64 `json:"invalid_utf8"`
	Identical          int64 `json:"identical"`
	Candidates         int64 `json:"candidates"`
	Clusters           int64 `json:"clusters"`
	Clustered          int64 `json:"clustered"`
	Kept               int64 `json:"kept"`
	Removed            int64 `json:"removed"`
	// RemovedForReference counts those of Removed that are near-duplicates of a
	// document of the reference, whatever document is kept for them.
	RemovedForReference int64 `json:"removed_for_reference,omitempty"`
	Pairs               int64 `json:"pairs"`
}

// Skipped says what was not compared.
type Skipped struct {
	// Pairs of documents with a common key, counted for every such key whose group
	// was too dense. They may have been compared under another key.
	Pairs int64 `json:"pairs"`
	// Groups too dense to compare all pairs.
	Groups int64 `json:"groups"`
	// Kept is how many documents of such groups are kept that were not compared with
	// all others of the group that are kept.
	Kept int64 `json:"kept"`
	// Example is the largest of them, nil if there is none.
	Example *SkippedGroup `json:"example,omitempty"`
}

// SkippedGroup is a dense group.
type SkippedGroup struct {
	// Documents is how many different ones it has.
	Documents int64 `json:"documents"`
	// First and Second are its first two documents, as path:position.
	First  string `json:"first"`
	Second string `json:"second"`
}

// add adds other to s. Of equally large examples that with the smaller names stays,
// so that the order does not matter.
func (s *Skipped) add(other Skipped) {
	s.Pairs += other.Pairs
	s.Groups += other.Groups
	s.Kept += other.Kept
	if s.Example == nil || other.Example != nil && cmp.Or(
		cmp.Compare(other.Example.Documents, s.Example.Documents),
		cmp.Compare(s.Example.First, other.Example.First),
		cmp.Compare(s.Example.Second, other.Example.Second)) > 0 {
		s.Example = other.Example
	}
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Documents += other.Documents
	c.Bytes += other.Bytes
	c.ReferenceDocuments += other.ReferenceDocuments
	c.ReferenceBytes += other.ReferenceBytes
	c.Rejected += other.Rejected
	c.InvalidUTF8 += other.InvalidUTF8
	c.Identical += other.Identical
	c.Candidates += other.Candidates
	c.Clusters += other.Clusters
	c.Clustered += other.Clustered
	c.Kept += other.Kept
	c.Removed += other.Removed
	c.RemovedForReference += other.RemovedForReference
	c.Pairs += other.Pairs
}

// encode makes an element of the outcome.
func (o outcome) encode() ([]byte, error) { return json.Marshal(o) }

func decodeOutcome(element []byte) (o outcome, err error) {
	if err = json.Unmarshal(element, &o); err != nil {
		err = fmt.Errorf("decode outcome: %w", err)
	}
	return o, err
}
