package transforms

import (
	"context"
	"encoding/binary"

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
// documents, and the documents whose id is not theirs alone.
//
// Groups of very many pairs wait until all are known: as many of them are compared, the
// smallest first, as the corpus allows for. What is larger is dense. The documents of
// dense groups are gathered in heaps, and scored there.
//
// It takes the outcomes of Key and Fingerprint, PCollection<[]byte> each, and returns
// one of outcomes.
func Group(s beam.Scope, job Job, keys, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("group")
	tasks := exchange(s, job, delivery{Step: firstStep, Needed: []runfile.Kind{keysKind, digestsKind, fingerprintsKind, idsKind}}, keys)
	groups := sideBySide(s, &groupFn{Job: job}, tasks)
	if job.Keys == All || job.Keys == SimHash {
		return groups // none waits
	}
	s = s.Scope("crowds")
	tasks = beam.ParDo(s, &crowdFn{Job: job}, together(s, keys, sketches, groups))
	groups = beam.Flatten(s, groups, sideBySide(s, &groupFn{Job: job}, tasks))
	if job.Similarity == Containment {
		return groups // a dense group is compared with its first document
	}
	return beam.Flatten(s, groups, heaps(s, job, groups, sketches))
}

// The steps of groupFn.
const (
	firstStep = iota
	crowdsStep
)

var groupStage = newStage("group")

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
		if t.Step == crowdsStep {
			return f.crowds(t, w)
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
	if w.has(digestsKind) {
		if err := f.equals(number, w); err != nil {
			return err
		}
		return f.ids(w)
	}
	keys, err := w.sortKeys(keysKind, number, f.Job.Shards, func(packed []byte) uint64 { return previousKey(packed, f.Job.Keys) })
	if err != nil {
		return err
	}
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

// sortKeys returns the key records of a shard in the task's memory, sorted. It reads them
// twice, piece by piece: a shard may be the records of very many documents under one key.
// Where previous is there, it gives what [candidates.Buckets.CountLink] asks for, and
// records may be left out that it says are in no pair.
func (w *workplace) sortKeys(kind runfile.Kind, shard, shards int, previous func(packed []byte) uint64) ([]candidates.Record, error) {
	size := int64(0)
	for _, piece := range w.pieces {
		if piece.Kind == kind {
			size += piece.Length
		}
	}
	low, high := rangeOf(shard, shards)
	buckets := candidates.NewBuckets(int(size)/keySize, low, high)
	err := w.eachKey(kind, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if previous == nil {
			buckets.Count(key)
		} else {
			buckets.CountLink(key, previous(packed))
		}
		w.figures.records++
		return packed[keySize+4*candidates.KnownOf(key):]
	})
	if err != nil {
		return nil, err
	}
	w.growKeys(buckets.Counted())
	err = w.eachKey(kind, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if place, ok := buckets.Place(key); ok {
			return getKey(packed, &w.keys[place])
		}
		return packed[keySize+4*candidates.KnownOf(key):]
	})
	w.figures.bytes += size
	buckets.Sort(w.keys)
	return w.keys, err
}

// eachKey visits the key records of a kind. Visit returns what follows a record.
func (w *workplace) eachKey(kind runfile.Kind, visit func(packed []byte) []byte) error {
	for _, piece := range w.pieces {
		if piece.Kind != kind {
			continue
		}
		packed, err := w.readPiece(0, piece)
		if err != nil {
			return err
		}
		for len(packed) > 0 {
			packed = visit(packed)
		}
	}
	return nil
}

// growKeys makes room for n records, of which nothing is kept. What was there before goes
// first: the two may be all the memory that there is.
func (w *workplace) growKeys(n int) {
	if n > cap(w.keys) {
		w.keys = nil
		w.keys = make([]candidates.Record, n)
	}
	w.keys = w.keys[:n]
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
	g.Crowded = func(group []candidates.Record, pairs int64) {
		w.outcome.Crowds = append(w.outcome.Crowds, crowd{g.KeyID(&group[0]), pairs})
		if err := writeCrowd(&w.run, shard, group, pairs); err != nil {
			failed = err
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
		MaxComparisons: f.Job.Bounds.Group,
		Exact:          f.Job.Keys == ExactKeys,
		FirstInput:     f.firstInput,
		Candidate: func(a, b *candidates.Record) {
			if err := pairs.add(a, b); err != nil {
				*failed = err
			}
		},
	}
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
	if r.Mark == 0 || w.part.Refs[r.Mark-1] != r.Ref {
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
