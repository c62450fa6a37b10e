package transforms

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/runfile"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&groupFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&denseFn{})
}

// Group brings the documents of a key together and finds the candidate pairs,
// which are a part of the candidate graph for each shard, the stars of identical
// documents, and the documents whose id is not theirs alone: PCollection<[]byte>
// of key outcomes to one of outcomes.
//
// Where there are groups too dense for all pairs, the shards are gone through
// once more when all such groups are known.
func Group(s beam.Scope, job Job, keys beam.PCollection) beam.PCollection {
	s = s.Scope("group")
	tasks := exchange(s, job, delivery{Step: firstStep, Needed: []runfile.Kind{keysKind, fingerprintsKind, idsKind}}, keys)
	groups := sideBySide(s, &groupFn{Job: job}, tasks)
	if job.Keys == All || job.Keys == SimHash {
		return groups // none is dense
	}
	s = s.Scope("again")
	tasks = beam.ParDo(s, &denseFn{Job: job}, together(s, keys, groups))
	return beam.Flatten(s, groups, sideBySide(s, &groupFn{Job: job}, tasks))
}

// The steps of groupFn.
const (
	firstStep = iota
	againStep
)

var groupStage = newStage("group")

// denseFn makes the tasks that go through the shards once more, if there are
// dense groups.
type denseFn struct {
	Job Job
}

func (f *denseFn) ProcessElement(_ context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	outcomes, counts, err := readOutcomes(elements)
	if err != nil {
		return markFault(err)
	}
	var runs []string
	var dense []uint32
	for _, o := range outcomes {
		dense = append(dense, o.Dense...)
		if o.Stage == keyStage.name && o.Run != "" {
			runs = append(runs, o.Run)
		}
	}
	if len(dense) == 0 {
		releaseRuns(f.Job, outcomes, keyStage)
		return nil
	}
	list, err := f.write(dense)
	if err == nil {
		d := delivery{Step: againStep, Needed: []runfile.Kind{keysKind}, Extra: []runfile.Kind{denseKind}}
		err = d.deliver(f.Job.Temp, append(runs, list), counts, emit)
	}
	if err != nil {
		return markFault(fmt.Errorf("list dense groups: %w", err))
	}
	return nil
}

// write writes the dense keys for every shard and returns the path of the run.
func (f *denseFn) write(dense []uint32) (string, error) {
	run := runfile.NewWriter(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	for shard := range f.Job.Shards {
		for _, key := range dense {
			b, err := run.Record(denseKind, shard, denseSize)
			if err != nil {
				return "", err
			}
			binary.LittleEndian.PutUint32(b, key)
		}
	}
	return run.Close()
}

type groupFn struct {
	Job Job

	bundle
	layout // read in Setup
}

func (f *groupFn) Setup() error { return f.read(f.Job.Inputs) }

func (f *groupFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	// All keys are there: nobody asks for the order of shingles any more.
	tasks.order.drop()
	return f.beginRun(ctx, groupStage, f.Job, element, func(ctx context.Context, t task, w *workplace) error {
		if t.Step == againStep {
			return f.again(t.Number, w)
		}
		return f.shard(ctx, t.Number, w)
	})
}

// shard goes through a shard for the first time.
func (f *groupFn) shard(ctx context.Context, number int, w *workplace) error {
	if f.Job.Keys == SimHash {
		if err := f.simhash(ctx, number, w); err != nil {
			return err
		}
		return f.ids(w)
	}
	records, err := w.read(0, keysKind)
	if err != nil {
		return err
	}
	w.figures.bytes += int64(len(records))
	keys := w.sortKeys(records)
	w.figures.records += int64(len(keys))
	if err := f.groups(keys, number, w); err != nil {
		return err
	}
	return f.ids(w)
}

// ids finds out which documents of a shard of ids have one that is not theirs
// alone.
func (f *groupFn) ids(w *workplace) error {
	ids, err := w.read(0, idsKind)
	if err != nil {
		return err
	}
	return f.repeated(ids, &w.run)
}

// sortKeys returns the key records in the task's memory, sorted.
func (w *workplace) sortKeys(packed []byte) []candidates.Record {
	most := len(packed) / keySize
	for i := range w.keys {
		w.keys[i] = slices.Grow(w.keys[i][:0], most)[:most]
	}
	records, n := w.keys[0], 0
	for len(packed) > 0 {
		packed = getKey(packed, &records[n])
		n++
	}
	return candidates.Sort(records[:n], w.keys[1])
}

// groups writes the candidate pairs and the stars of identical documents, which
// are edges already.
func (f *groupFn) groups(records []candidates.Record, shard int, w *workplace) error {
	var failed error
	var stars starWriter
	pairs := newPairWriter(w, shard)
	g := f.grouper(&pairs, &failed)
	g.Identical = func(first, other *candidates.Record) {
		if err := stars.add(&w.run, shard, first, other); err != nil {
			failed = err
		}
	}
	g.Dense = func(group []candidates.Record, skipped int64) {
		w.outcome.Dense = append(w.outcome.Dense, candidates.PreviousOf(group[0].Key))
		first, second := firstTwo(group)
		w.outcome.Skipped.add(f.layout.skipped(first, second, len(group), skipped))
	}
	if f.Job.Keys == All {
		// Keys only tell what is identical.
		g.Candidate = func(_, _ *candidates.Record) {}
		if err := f.writeDistinct(&w.run, shard, records); err != nil {
			return err
		}
	}
	g.Groups(records)
	if failed != nil {
		return failed
	}
	if err := writePart(&w.run, nodesKind, shard, pairs.part); err != nil {
		return err
	}
	return writePart(&w.run, edgeNodesKind, shard, stars.part)
}

// grouper returns a Grouper whose pairs are written.
func (f *groupFn) grouper(pairs *pairWriter, failed *error) *candidates.Grouper {
	threshold := f.Job.Threshold
	if f.Job.Similarity == Containment {
		threshold = 0 // a page may be in a book
	}
	return &candidates.Grouper{
		Threshold:      threshold,
		MaxComparisons: f.Job.GroupComparisons,
		Exact:          f.Job.Keys == ExactKeys,
		FirstInput:     f.firstInput,
		Candidate: func(a, b *candidates.Record) {
			if err := pairs.add(a, b); err != nil {
				*failed = err
			}
		},
	}
}

// firstTwo returns the first two documents of a group.
func firstTwo(group []candidates.Record) (first, second docref.Ref) {
	first, second = group[0].Ref, group[1].Ref
	for _, r := range group {
		switch {
		case r.Ref < first:
			first, second = r.Ref, first
		case r.Ref != first && r.Ref < second:
			second = r.Ref
		}
	}
	return first, second
}

// skipped describes a dense group of so many documents, of which some pairs were
// skipped, by two of them.
func (l *layout) skipped(first, second docref.Ref, documents int, pairs int64) Skipped {
	return Skipped{Pairs: pairs, Groups: 1, Example: &SkippedGroup{
		Documents: int64(documents),
		First:     string(l.inputs.refText(nil, first)), Second: string(l.inputs.refText(nil, second)),
	}}
}

// again goes through a shard once more, when the dense groups are known.
func (f *groupFn) again(shard int, w *workplace) error {
	packed, err := w.read(0, denseKind)
	if err != nil {
		return err
	}
	dense := map[uint32]bool{}
	for ; len(packed) > 0; packed = packed[denseSize:] {
		dense[binary.LittleEndian.Uint32(packed)] = true
	}
	records, err := w.read(0, keysKind)
	if err != nil {
		return err
	}
	// Parts are numbered behind those of the first time.
	part := f.Job.Shards + shard
	var failed error
	pairs := newPairWriter(w, part)
	g := f.grouper(&pairs, &failed)
	g.DenseKeys = dense
	g.Again(w.sortKeys(records))
	if failed != nil {
		return failed
	}
	return writePart(&w.run, nodesKind, part, pairs.part)
}

// pairWriter writes the pairs of a shard, by the numbers of their documents, and
// collects these. A document has one number in all its groups.
type pairWriter struct {
	run   *runfile.Writer
	shard int
	nodes *numbering.Set
	part  components.Part
}

func newPairWriter(w *workplace, shard int) pairWriter {
	w.nodes.Reset()
	return pairWriter{run: &w.run, shard: shard, nodes: &w.nodes}
}

func (w *pairWriter) add(a, b *candidates.Record) error {
	x, y := w.number(a), w.number(b)
	w.part.Parents.Union(x, y)
	record, err := w.run.Record(numbersKind, w.shard, numberSize)
	if err == nil {
		binary.LittleEndian.PutUint32(record, x)
		binary.LittleEndian.PutUint32(record[4:], y)
	}
	return err
}

// number returns the number of a record's document, which it notes in the record.
func (w *pairWriter) number(r *candidates.Record) uint32 {
	if r.Mark == 0 {
		number, isNew := w.nodes.Add(uint64(r.Ref))
		if isNew {
			w.part.Refs = append(w.part.Refs, r.Ref)
			w.part.Weights = append(w.part.Weights, r.Size)
			w.part.Parents = append(w.part.Parents, number)
		}
		r.Mark = number + 1
	}
	return r.Mark - 1
}

// writeDistinct writes the first of the documents under each key as a node: every
// one of them is compared with every other. Where that is of the reference, the first
// equal one of the input, if there is one, is a node joined to it.
func (f *groupFn) writeDistinct(run *runfile.Writer, shard int, records []candidates.Record) error {
	n, first := uint32(0), uint32(0)
	for i, r := range records {
		isEqual := i > 0 && records[i-1].Digest == r.Digest
		if !isEqual {
			first = n
		}
		if r.Size == 0 || isEqual && (records[i-1].Ref >= f.firstInput || r.Ref < f.firstInput) {
			continue
		}
		if err := writeNode(run, nodesKind, shard, r.Ref, r.Size, first); err != nil {
			return err
		}
		n++
	}
	return nil
}

// starWriter writes the edges from the first of identical documents to the
// others and collects their nodes. The documents of one star come one after the
// other.
type starWriter struct {
	part   components.Part
	center docref.Ref
	number uint32
}

func (w *starWriter) add(run *runfile.Writer, shard int, first, other *candidates.Record) error {
	if len(w.part.Refs) == 0 || w.center != first.Ref {
		w.center, w.number = first.Ref, uint32(len(w.part.Refs))
		w.node(first)
	}
	w.node(other)
	b, err := run.Record(edgesKind, shard, edgeSize)
	if err == nil {
		putEdge(b, edge{A: w.number, B: uint32(len(w.part.Refs) - 1), Shared: first.Size, total: first.Size})
	}
	return err
}

func (w *starWriter) node(r *candidates.Record) {
	w.part.Refs = append(w.part.Refs, r.Ref)
	w.part.Weights = append(w.part.Weights, r.Size)
	w.part.Parents = append(w.part.Parents, w.number)
}

// repeated writes the documents that share their id with another one.
func (f *groupFn) repeated(packed []byte, run *runfile.Writer) error {
	type record struct {
		hash uint64
		ref  docref.Ref
	}
	records := make([]record, len(packed)/idSize)
	for i := range records {
		b := packed[i*idSize:]
		records[i] = record{binary.LittleEndian.Uint64(b), getRef(b[8:])}
	}
	records = radix.Sort(records, make([]record, len(records)), func(r *record) uint64 { return r.hash })
	for i, r := range records {
		if (i == 0 || records[i-1].hash != r.hash) && (i+1 == len(records) || records[i+1].hash != r.hash) {
			continue
		}
		b, err := run.Record(repeatedKind, splitOf(f.starts, r.ref), refSize)
		if err != nil {
			return err
		}
		putRef(b, r.ref)
	}
	return nil
}
