package transforms

import (
	"context"
	"encoding/binary"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
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
	tasks := exchange(s, job, work.Delivery{Step: firstStep, Needed: []runfile.Kind{records.Keys, records.Digests, records.Fingerprints, records.Ids}}, keys)
	groups := sideBySide(s, &groupFn{Job: job, bundle: newBundle(job)}, tasks)
	if job.Keys == methods.All || job.Keys == methods.SimHash {
		return groups // none waits
	}
	s = s.Scope("crowds")
	tasks = beam.ParDo(s, &crowdFn{Job: job, planner: planner{job.runs()}}, together(s, keys, sketches, groups))
	groups = beam.Flatten(s, groups, sideBySide(s, &groupFn{Job: job, bundle: newBundle(job)}, tasks))
	if job.Similarity == methods.Containment {
		return groups // a dense group is compared with its first document
	}
	return beam.Flatten(s, groups, heaps(s, job, groups, sketches))
}

// The steps of groupFn.
const (
	firstStep = iota
	crowdsStep
)

var groupStage = newStage(work.Group)

type groupFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup
}

func (f *groupFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *groupFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, groupStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		if t.Step == crowdsStep {
			return f.crowds(t, w)
		}
		return f.shard(ctx, t.Number, w)
	})
}

// shard goes through a shard for the first time.
func (f *groupFn) shard(ctx context.Context, number int, w *work.Place) error {
	if f.Job.Keys == methods.SimHash {
		if err := f.simhash(ctx, number, w); err != nil {
			return err
		}
		return f.ids(w)
	}
	if w.Has(records.Digests) {
		if err := f.equals(number, w); err != nil {
			return err
		}
		return f.ids(w)
	}
	keys, err := sortKeys(w, records.Keys, number, f.Job.Shards, func(packed []byte) uint64 { return records.PreviousKey(packed, f.Job.Keys == methods.Exact) })
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
func (f *groupFn) ids(w *work.Place) error {
	ids, err := w.Read(0, records.Ids)
	if err != nil {
		return err
	}
	return f.repeated(ids, &w.Run)
}

// sortKeys returns the key records of a shard in the task's memory, sorted. It reads them
// twice, piece by piece: a shard may be the records of very many documents under one key.
// Where previous is there, it gives what [candidates.Buckets.CountLink] asks for, and
// records may be left out that it says are in no pair.
func sortKeys(w *work.Place, kind runfile.Kind, shard, shards int, previous func(packed []byte) uint64) ([]candidates.Record, error) {
	size := int64(0)
	for _, piece := range w.Pieces {
		if piece.Kind == kind {
			size += piece.Length
		}
	}
	low, high := records.RangeOf(shard, shards)
	buckets := candidates.NewBuckets(int(size)/records.KeySize, low, high)
	err := eachKey(w, kind, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if previous == nil {
			buckets.Count(key)
		} else {
			buckets.CountLink(key, previous(packed))
		}
		w.Figures.Records++
		return packed[records.KeySize+4*candidates.KnownOf(key):]
	})
	if err != nil {
		return nil, err
	}
	growKeys(w, buckets.Counted())
	err = eachKey(w, kind, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if place, ok := buckets.Place(key); ok {
			return records.GetKey(packed, &w.Keys[place])
		}
		return packed[records.KeySize+4*candidates.KnownOf(key):]
	})
	w.Figures.Bytes += size
	buckets.Sort(w.Keys)
	return w.Keys, err
}

// eachKey visits the key records of a kind. Visit returns what follows a record.
func eachKey(w *work.Place, kind runfile.Kind, visit func(packed []byte) []byte) error {
	for _, piece := range w.Pieces {
		if piece.Kind != kind {
			continue
		}
		packed, err := w.ReadPiece(0, piece)
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
func growKeys(w *work.Place, n int) {
	if n > cap(w.Keys) {
		w.Keys = nil
		w.Keys = make([]candidates.Record, n)
	}
	w.Keys = w.Keys[:n]
}

// groups writes the candidate pairs and the stars of identical documents, which
// are edges already.
func (f *groupFn) groups(keys []candidates.Record, shard int, w *work.Place) error {
	var failed error
	var stars starWriter
	pairs := newPairWriter(w, shard)
	g := f.grouper(&pairs, &failed)
	g.Identical = func(first, other *candidates.Record) {
		if err := stars.add(&w.Run, shard, first, other); err != nil {
			failed = err
		}
	}
	g.Crowded = func(group []candidates.Record, pairs int64) {
		w.Outcome.Crowds = append(w.Outcome.Crowds, work.Crowd{ID: g.KeyID(&group[0]), Pairs: pairs})
		if err := records.WriteCrowd(&w.Run, shard, group, pairs); err != nil {
			failed = err
		}
	}
	g.Groups(keys)
	if failed != nil {
		return failed
	}
	if err := records.WritePart(&w.Run, records.Nodes, shard, pairs.part); err != nil {
		return err
	}
	return records.WritePart(&w.Run, records.EdgeNodes, shard, stars.part)
}

// grouper returns a Grouper whose pairs are written.
func (f *groupFn) grouper(pairs *pairWriter, failed *error) *candidates.Grouper {
	threshold := f.Job.Threshold
	if f.Job.Similarity == methods.Containment {
		threshold = 0 // a page may be in a book
	}
	return &candidates.Grouper{
		Threshold:      threshold,
		MaxComparisons: f.Job.Bounds.Group,
		Exact:          f.Job.Keys == methods.Exact,
		FirstInput:     f.FirstInput,
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

func newPairWriter(w *work.Place, shard int) pairWriter {
	w.Nodes.Reset()
	return pairWriter{run: &w.Run, shard: shard, nodes: &w.Nodes}
}

func (w *pairWriter) add(a, b *candidates.Record) error {
	x, y := w.number(a), w.number(b)
	w.part.Parents.Union(x, y)
	record, err := w.run.Record(records.Numbers, w.shard, records.NumberSize)
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
	b, err := run.Record(records.Edges, shard, records.EdgeSize)
	if err == nil {
		records.PutEdge(b, records.Edge{A: w.number, B: uint32(len(w.part.Refs) - 1), Shared: first.Size, Total: first.Size})
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
	keys := make([]record, len(packed)/records.IdSize)
	for i := range keys {
		b := packed[i*records.IdSize:]
		keys[i] = record{binary.LittleEndian.Uint64(b), records.GetRef(b[8:])}
	}
	keys = radix.Sort(keys, make([]record, len(keys)), func(r *record) uint64 { return r.hash })
	for i, r := range keys {
		if (i == 0 || keys[i-1].hash != r.hash) && (i+1 == len(keys) || keys[i+1].hash != r.hash) {
			continue
		}
		b, err := run.Record(records.Repeated, documents.SplitOf(f.Starts, r.ref), records.RefSize)
		if err != nil {
			return err
		}
		records.PutRef(b, r.ref)
	}
	return nil
}
