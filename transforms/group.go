package transforms

import (
	"context"
	"encoding/binary"
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
}

// Group brings the documents of a key together and finds the candidate pairs,
// which are a part of the candidate graph for each shard, the stars of identical
// documents, and the documents whose id is not theirs alone: PCollection<[]byte>
// of key outcomes to one of outcomes.
func Group(s beam.Scope, job Job, keys beam.PCollection) beam.PCollection {
	s = s.Scope("group")
	tasks := exchange(s, job, delivery{Needed: []runfile.Kind{keysKind, idsKind}}, keys)
	return inLanes(s, job, &groupFn{Job: job}, tasks)
}

var groupStage = newStage("group")

type groupFn struct {
	Job Job

	// Read in Setup: the starts of the splits, and where the reference ends.
	starts     []docref.Ref
	firstInput docref.Ref
}

func (f *groupFn) Setup() error {
	inputs, err := readInputs(f.Job.Inputs)
	if err != nil {
		return err
	}
	if f.firstInput, err = inputs.firstInput(); err != nil {
		return err
	}
	f.starts, err = inputs.splitStarts()
	return err
}

func (f *groupFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	return emitRun(ctx, groupStage, f.Job, element, emit, func(t task, w *workplace) error { return f.shard(ctx, t.Number, w) })
}

func (f *groupFn) shard(ctx context.Context, number int, w *workplace) error {
	records, err := w.read(0, keysKind)
	if err != nil {
		return err
	}
	groupStage.bytes.Inc(ctx, int64(len(records)))
	n, err := f.groups(records, number, w)
	if err != nil {
		return err
	}
	groupStage.records.Inc(ctx, int64(n))
	ids, err := w.read(0, idsKind)
	if err != nil {
		return err
	}
	return f.repeated(ids, &w.run)
}

// groups writes the candidate pairs and the stars of identical documents, which
// are edges already. It returns how many records there are.
func (f *groupFn) groups(packed []byte, shard int, w *workplace) (int, error) {
	most := len(packed) / keySize
	for i := range w.keys {
		w.keys[i] = slices.Grow(w.keys[i][:0], most)[:most]
	}
	records, n := w.keys[0], 0
	for len(packed) > 0 {
		packed = getKey(packed, &records[n])
		n++
	}
	records = records[:n]
	var failed error
	var stars starWriter
	pairs := newPairWriter(w, shard)
	g := candidates.Grouper{
		Threshold:      f.Job.Threshold,
		MaxComparisons: f.Job.GroupComparisons,
		FirstInput:     f.firstInput,
		Candidate: func(a, b *candidates.Record) {
			// Where all pairs are compared keys only tell what is identical.
			if f.Job.Keys == All {
				return
			}
			if err := pairs.add(a, b); err != nil {
				failed = err
			}
		},
		Identical: func(first, other *candidates.Record) {
			if err := stars.add(&w.run, shard, first, other); err != nil {
				failed = err
			}
		},
	}
	records = candidates.Sort(records, w.keys[1])
	if f.Job.Keys == All {
		if err := writeDistinct(&w.run, shard, records); err != nil {
			return n, err
		}
	}
	g.Groups(records)
	if failed != nil {
		return n, failed
	}
	if err := writePart(&w.run, nodesKind, shard, pairs.part); err != nil {
		return n, err
	}
	w.outcome.Counts.Identical = stars.edges
	w.outcome.Skipped = Skipped{Pairs: g.Skipped, Groups: g.SkippedGroups}
	return n, writePart(&w.run, edgeNodesKind, shard, stars.part)
}

// pairWriter writes the pairs of a shard, by the numbers of their documents, and
// collects these. A document has one number in all its groups.
type pairWriter struct {
	run   *runfile.Writer
	shard int
	nodes *numbering.Set
	part  components.Part
}

func newPairWriter(w *workplace, shard int) *pairWriter {
	w.nodes.Reset()
	return &pairWriter{run: &w.run, shard: shard, nodes: &w.nodes}
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

// writeDistinct writes the first of the documents under each key as nodes without
// edges: every one of them is compared with every other.
func writeDistinct(run *runfile.Writer, shard int, records []candidates.Record) error {
	n := uint32(0)
	for i, r := range records {
		if r.Size == 0 || i > 0 && records[i-1].Digest == r.Digest {
			continue
		}
		if err := writeNode(run, nodesKind, shard, r.Ref, r.Size, n); err != nil {
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
	edges  int64
}

func (w *starWriter) add(run *runfile.Writer, shard int, first, other *candidates.Record) error {
	if w.edges == 0 || w.center != first.Ref {
		w.center, w.number = first.Ref, uint32(len(w.part.Refs))
		w.node(first)
	}
	w.node(other)
	w.edges++
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
