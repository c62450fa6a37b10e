// Package work runs the tasks of all stages, and routes what they write to the tasks of the next stage. A task is a
// shard or a split, and the pieces of run files for it. It gets a [TaskContext], turns the pieces into one run file,
// and emits a small [Outcome]. A step between two stages gets a [Planning], and turns the outcomes of the first stage
// into the tasks of the second.
//
// Files have random names and are never changed, so a task may run twice.
package work

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"weak"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
)

// Memory holds the buffers of a task. It goes from one task of a stage to the next: if the collector freed it, the next
// task would map new memory, page by page.
type Memory struct {
	stage   Stage
	Figures Figures // figures of the current task
	Run     runfile.Writer
	Buffers [3][]byte
	Keys    []candidates.Record
	Nodes   graphs.Numbering[graphs.Node]
	Hashes  []uint64
	Pairs   []uint64
}

// TaskContext is what a task has before it: its pieces, the run to write, and its memory.
type TaskContext struct {
	*Memory
	Runs    Runs
	Reader  runfile.Reader
	Pieces  []runfile.Piece
	Outcome *Outcome
	// Hold keeps a value that tasks share until all tasks of the bundle have ended.
	Hold func(shared any)

	beginLarge func() error // nil: the task need not wait
	isLarge    bool
}

// Read returns all pieces of a kind, one behind the other, in one of the memory's buffers.
func (w *TaskContext) Read(buffer int, kind runfile.Kind) ([]byte, error) {
	b, err := w.Reader.ReadKind(w.Buffers[buffer][:0], w.Pieces, kind)
	w.Buffers[buffer] = b
	return b, err
}

// Has reports whether the task has a piece of a kind.
func (w *TaskContext) Has(kind runfile.Kind) bool {
	return slices.ContainsFunc(w.Pieces, func(piece runfile.Piece) bool { return piece.Kind == kind })
}

// ReadPiece returns one piece in one of the memory's buffers. A task mostly holds what it reads twice: as it is stored,
// and as it is worked on.
func (w *TaskContext) ReadPiece(buffer int, piece runfile.Piece) ([]byte, error) {
	if err := w.Expect(2 * piece.Length); err != nil {
		return nil, err
	}
	b, err := w.Reader.Read(w.Buffers[buffer][:0], piece)
	w.Buffers[buffer] = b
	return b, err
}

// EachBlock visits the sketch blocks of a split in order. Visit also gets the piece that holds the sets of the block.
// The block is in the first buffer.
func (w *TaskContext) EachBlock(ctx context.Context, visit func(*sketchblock.Block, runfile.Piece) error) error {
	var documents, sets []runfile.Piece
	for _, piece := range w.Pieces {
		switch piece.Kind {
		case records.Documents:
			documents = append(documents, piece)
		case records.Sets:
			sets = append(sets, piece)
		}
	}
	for i, piece := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := w.ReadBlock(piece)
		if err != nil {
			return err
		}
		var setsPiece runfile.Piece
		if i < len(sets) {
			setsPiece = sets[i]
		}
		if err := visit(&block, setsPiece); err != nil {
			return err
		}
	}
	return nil
}

// ReadBlock reads a sketch block. It is in the first buffer.
func (w *TaskContext) ReadBlock(piece runfile.Piece) (block sketchblock.Block, err error) {
	packed, err := w.ReadPiece(0, piece)
	if err != nil {
		return block, err
	}
	return ParseBlock(packed, piece)
}

// ParseBlock reads the header of the documents of a sketch block, given their bytes and their piece. Blocks that a
// state keeps do not know the number of their file. A link to them has it as its mark.
func ParseBlock(documents []byte, piece runfile.Piece) (sketchblock.Block, error) {
	block, err := sketchblock.Parse(documents)
	if err == nil && piece.Mark != 0 {
		err = block.MoveTo(int(piece.Mark))
	}
	return block, err
}

// EachSet visits the documents of the sketch blocks of a split in order. Visit gets a block, the number of a document
// in it, and the bytes of its set or sequence. The block is in the first buffer, its sets in the second.
func (w *TaskContext) EachSet(ctx context.Context,
	visit func(block *sketchblock.Block, i int, set []byte) error,
) error {
	return w.EachBlock(ctx, func(block *sketchblock.Block, piece runfile.Piece) error {
		sets, err := w.ReadPiece(1, piece)
		if err != nil {
			return err
		}
		for i, set := range block.Sets(sets) {
			if err := visit(block, i, set); err != nil {
				return err
			}
		}
		return nil
	})
}

// Do does a task, and afterwards closes its run. It finds the pieces of each of the task's shards, and does them one
// after the other.
func (w *TaskContext) Do(ctx context.Context, t Task, do func(context.Context, Task, *TaskContext) error) (err error) {
	w.beginLarge = func() error { return BeginLarge(ctx) }
	defer w.endLarge()
	defer func() {
		w.Reader.Close()
		w.Figures.Pieces, w.Figures.Read = w.Reader.Pieces, w.Reader.Bytes
	}()
	w.Runs.Begin(&w.Run)
	defer w.Run.Abort()
	w.Run.Stopped, w.Reader.Stopped = ctx.Err, ctx.Err
	for _, number := range append([]int{t.Number}, t.Also...) {
		one := t
		one.Number, one.Also = number, nil
		if t.Catalog != "" {
			if w.Pieces, err = runfile.ReadCatalog(t.Catalog, number); err != nil {
				return err
			}
		}
		if err := do(ctx, one, w); err != nil {
			return err
		}
	}
	w.Outcome.Run, err = w.Run.Close()
	w.Figures.Written = w.Run.Written()
	return err
}

// Shared holds a value that tasks of this process read from the same file, while one of them uses it: a list of inputs,
// an order of shingles. The zero value is ready for use.
type Shared[T any] struct {
	mutex  sync.Mutex
	values map[string]weak.Pointer[T]
}

// Get returns the value that was read from path. It reads the file if nobody holds the value. The caller must not
// change it.
func (s *Shared[T]) Get(path string, read func(path string) (*T, error)) (*T, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if value := s.values[path].Value(); value != nil {
		return value, nil
	}
	maps.DeleteFunc(s.values, func(_ string, held weak.Pointer[T]) bool { return held.Value() == nil })
	value, err := read(path)
	if err != nil {
		return nil, err
	}
	if s.values == nil {
		s.values = map[string]weak.Pointer[T]{}
	}
	s.values[path] = weak.Make(value)
	return value, nil
}

// Task is the work of one element: a shard or a split, and the catalog of its pieces.
type Task struct {
	Number int
	// Step is the Step of its delivery.
	Step int
	// Shards is the number of output shards, or the Shards of the delivery.
	Shards int
	// Documents is the number of documents in the input.
	Documents int64
	// Shingles is the number of shingles in their sets together.
	Shingles int64
	// IntegerNames says that rows call documents by whole numbers.
	IntegerNames bool
	Catalog      string
	// Also are further shards that the task does after Number. What it writes for them goes to one run file.
	Also []int
}

// Encode encodes the task as an element.
func (t Task) Encode() []byte { return packed.Append(nil, &t) }

// DecodeTask reads an element that Encode made.
func DecodeTask(element []byte) (t Task) {
	if _, err := packed.Next(element, &t); err != nil {
		panic(err) // a bug in runjob
	}
	return t
}

// Delivery says which tasks an exchange makes and which pieces they get.
type Delivery struct {
	// Step distinguishes the tasks that different deliveries make for one stage.
	Step int
	// Needed holds kinds of records. Every shard with a record of one of them gets a task.
	Needed []runfile.Kind
	// Extra holds further kinds that the tasks get.
	Extra []runfile.Kind
	// Shards, if above 0, makes a task for every shard below it.
	Shards int
	// Output makes a task for every output shard.
	Output bool
	// OnlyCounted are stages whose outcomes add to the counts, and whose records no task gets.
	OnlyCounted []Stage
	// Into is into how many shards each task writes; 0 for few. Where there are very many pieces, a task does several
	// shards. With IntoPlaces it is as many as the step before has made places, and with Back as many as the stage
	// before has tasks.
	Into             int
	IntoPlaces, Back bool
	// Enough is how many tasks are to be left for the workers: [FewTasks] or [ManyTasks].
	Enough int
}

const (
	// Up to manyPieces, the pieces that the tasks of a stage write cost little. Beyond, tasks do several shards each:
	// mostTogether at most, and as many as have togetherBytes to read, since a task holds its run file, which is
	// shorter, on the local disk.
	manyPieces    = 1 << 18
	mostTogether  = 16
	togetherBytes = 16 << 30

	// FewTasks are enough for a stage that does next to nothing, ManyTasks for one that computes or reads very much.
	FewTasks  = 64
	ManyTasks = 2048
)

// Together returns how many shards each task of a stage does. The stage has a number of shards. Each writes into a
// number of others, and together they read a number of bytes.
func Together(shards, into, enough int, bytes float64) int {
	if float64(shards)*float64(into) <= manyPieces {
		return 1
	}
	most := min(float64(shards/max(enough, 1)), mostTogether, togetherBytes*float64(shards)/max(bytes, 1))
	return max(int(most), 1)
}

// After returns the delivery for a stage behind tasks with these outcomes.
func (d Delivery) After(outcomes []Outcome) Delivery {
	for _, o := range outcomes {
		if d.IntoPlaces {
			d.Into = max(d.Into, o.Places)
		}
		if d.Back {
			d.Into = max(d.Into, o.Number+1)
		}
	}
	return d
}

// The number of shards of an output depends only on the documents, so the same corpus gives the same files. Each shard
// reads a piece of nearly every part of the input. So beyond manyDocuments it grows with their square root.
const (
	documentsPerShard = 100_000
	manyDocuments     = 100_000_000
)

// OutputShards returns the number of shards of an output.
func OutputShards(counts findings.Counts) int {
	documents := float64(counts.Documents)
	if documents > manyDocuments {
		documents = math.Sqrt(documents * manyDocuments)
	}
	return max(int(math.Ceil(documents/documentsPerShard)), 1)
}

// Deliver writes a catalog of the runs and emits the tasks.
func (d Delivery) Deliver(temp string, runs []string, counts findings.Counts, emit func(Task)) error {
	all := d.Shards
	if d.Output {
		all = OutputShards(counts)
	}
	if len(runs) == 0 && all == 0 {
		return nil
	}
	catalog, err := runfile.WriteCatalog(temp, runs, d.Needed, d.Extra)
	if err != nil {
		return err
	}
	shards := catalog.Shards
	for shard := range all {
		if _, found := slices.BinarySearch(shards, shard); !found {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	shards = slices.Compact(shards)
	for some := range slices.Chunk(shards, Together(len(shards), d.Into, d.Enough, float64(catalog.Bytes))) {
		emit(Task{
			Number:       some[0],
			Also:         some[1:],
			Step:         d.Step,
			Shards:       all,
			Documents:    counts.Documents,
			IntegerNames: counts.HasIntegerNames(),
			Catalog:      catalog.Path,
		})
	}
	return nil
}

// Planning is what a step gets that sees the outcomes of all earlier tasks and makes the next tasks.
type Planning struct {
	*Memory
	Runs Runs
	// Outcomes are in the order of stages and tasks. Counts is the sum of their counts.
	Outcomes []Outcome
	Counts   findings.Counts
	// Outcome is the step's own outcome, for steps that emit one.
	Outcome Outcome
	// Emit emits a task.
	Emit func(Task)
}

// Deliver makes the tasks of a delivery over the runs.
func (p *Planning) Deliver(d Delivery, runs []string) error {
	return d.Deliver(string(p.Runs.Folder), runs, p.Counts, p.Emit)
}
