package transforms

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/runfile"
)

func init() {
	register.Function1x2(oneKey)
	register.Function1x1(same)
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&exchangeFn{})
	register.Emitter1[[]byte]()
	register.Iter1[[]byte]()
}

// delivery says which tasks an exchange makes and what it hands them.
type delivery struct {
	// Step tells tasks of different deliveries to one DoFn apart.
	Step int
	// Needed kinds make a task for every shard that has records of one of them.
	Needed []runfile.Kind
	// Extra kinds are handed to the tasks as well.
	Extra []runfile.Kind
	// Shards, where above 0, makes a task for every shard below it.
	Shards int
	// Output makes a task for every output shard.
	Output bool
}

// documentsPerShard sets the number of shards of an output. It depends on the
// number of documents only, so that the same corpus gives the same files.
const documentsPerShard = 100_000

// outputShards returns the number of shards of an output.
func outputShards(counts Counts) int {
	return max(int((counts.Documents+documentsPerShard-1)/documentsPerShard), 1)
}

// exchange turns the outcomes of the tasks of some stages into the tasks of the
// next: a task for each shard that was written to, with the pieces of all run
// files for it. Splits and shards elements pass, never their product.
//
// It takes PCollection<[]byte> of outcomes and returns PCollection<[]byte> of
// tasks.
func exchange(s beam.Scope, job Job, d delivery, outcomes ...beam.PCollection) beam.PCollection {
	s = s.Scope("exchange")
	return beam.ParDo(s, &exchangeFn{Temp: []byte(job.Temp), Delivery: d}, together(s, outcomes...))
}

// together brings all outcomes to one place: PCollection<KV<int64, []byte>>
// grouped under one key. An impulse sees to it that there is always one group. It
// passes through a step of its own, since portable runners refuse to flatten a bare
// one (apache/beam#34647).
func together(s beam.Scope, outcomes ...beam.PCollection) beam.PCollection {
	impulse := beam.ParDo(s, same, beam.Impulse(s))
	all := beam.Flatten(s, append(outcomes, impulse)...)
	return beam.GroupByKey(s, beam.ParDo(s, oneKey, all))
}

func same(element []byte) []byte { return element }

func oneKey(element []byte) (int64, []byte) { return 0, element }

// sideBySide applies a DoFn that embeds a bundle to tasks and returns their outcomes.
// The reshuffle lets a runner spread the tasks over workers; it would run them where
// they were made.
func sideBySide(s beam.Scope, fn any, tasks beam.PCollection) beam.PCollection {
	return beam.ParDo(s, fn, beam.Reshuffle(s, tasks))
}

// task is the work of one element: a shard, or a split, and the catalog with
// the pieces for it.
type task struct {
	Number int
	// Step is that of the delivery.
	Step int
	// Shards is the number of output shards, or that of the delivery.
	Shards int
	// Documents is how many there are in the input.
	Documents int64
	// Shingles is how many their sets hold in sum.
	Shingles int64
	Catalog  string
}

const taskHeader = 28

func (t task) encode() []byte {
	b := make([]byte, 0, taskHeader+len(t.Catalog))
	for _, number := range []int{t.Number, t.Step, t.Shards} {
		b = binary.LittleEndian.AppendUint32(b, uint32(number))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Documents))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Shingles))
	return append(b, t.Catalog...)
}

func decodeTask(element []byte) task {
	number := func(i int) int { return int(binary.LittleEndian.Uint32(element[4*i:])) }
	return task{
		Number: number(0), Step: number(1), Shards: number(2),
		Documents: int64(binary.LittleEndian.Uint64(element[12:])), Shingles: int64(binary.LittleEndian.Uint64(element[20:])),
		Catalog: string(element[taskHeader:]),
	}
}

// readOutcomes returns the outcomes of an iterator in the order of stages and
// tasks, whatever order the runner brings them in, and the sum of their counts.
func readOutcomes(elements func(*[]byte) bool) ([]outcome, Counts, error) {
	var outcomes []outcome
	var sum Counts
	var element []byte
	for elements(&element) {
		if len(element) == 0 {
			continue
		}
		o, err := decodeOutcome(element)
		if err != nil {
			return nil, sum, err
		}
		outcomes = append(outcomes, o)
		sum.Add(o.Counts)
	}
	slices.SortFunc(outcomes, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Run, b.Run))
	})
	return outcomes, sum, nil
}

// runsOf returns the run files of the outcomes.
func runsOf(outcomes []outcome) []string {
	var runs []string
	for _, o := range outcomes {
		if o.Run != "" {
			runs = append(runs, o.Run)
		}
	}
	return runs
}

// runsBut returns the run files of the outcomes, except those of some stages.
func runsBut(outcomes []outcome, stages ...*stage) []string {
	isOne := func(o outcome) bool {
		return slices.ContainsFunc(stages, func(s *stage) bool { return o.Stage == s.name })
	}
	return runsOf(slices.DeleteFunc(slices.Clone(outcomes), isOne))
}

type exchangeFn struct {
	Temp     []byte // a path travels as bytes, see Job.MarshalJSON
	Delivery delivery
}

func (f *exchangeFn) ProcessElement(_ context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	outcomes, counts, err := readOutcomes(elements)
	if err == nil {
		err = f.Delivery.deliver(string(f.Temp), runsOf(outcomes), counts, emit)
	}
	if err != nil {
		return markFault(fmt.Errorf("exchange: %w", err))
	}
	return nil
}

// deliver writes a catalog of the runs and puts out the tasks.
func (d delivery) deliver(temp string, runs []string, counts Counts, emit func([]byte)) error {
	all := d.Shards
	if d.Output {
		all = outputShards(counts)
	}
	if len(runs) == 0 && all == 0 {
		return nil
	}
	catalog, shards, err := runfile.WriteCatalog(temp, runs, d.Needed, d.Extra)
	if err != nil {
		return err
	}
	for shard := range all {
		if _, found := slices.BinarySearch(shards, shard); !found {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	for _, shard := range slices.Compact(shards) {
		emit(task{Number: shard, Step: d.Step, Shards: all, Documents: counts.Documents, Catalog: catalog}.encode())
	}
	return nil
}

// workplace is what a task that turns runs into a run has at hand: the pieces it
// is given and the run it writes.
type workplace struct {
	*memory
	reader  runfile.Reader
	pieces  []runfile.Piece
	outcome *outcome
}

// read returns all pieces of a kind, one behind the other, in one of the
// memory's buffers.
func (w *workplace) read(buffer int, kind runfile.Kind) ([]byte, error) {
	b, err := w.reader.ReadKind(w.buffers[buffer][:0], w.pieces, kind)
	w.buffers[buffer] = b
	return b, err
}

// has reports whether the task is given a piece of a kind.
func (w *workplace) has(kind runfile.Kind) bool {
	return slices.ContainsFunc(w.pieces, func(piece runfile.Piece) bool { return piece.Kind == kind })
}

// readPiece returns one piece in one of the memory's buffers.
func (w *workplace) readPiece(buffer int, piece runfile.Piece) ([]byte, error) {
	b, err := w.reader.Read(w.buffers[buffer][:0], piece)
	w.buffers[buffer] = b
	return b, err
}
