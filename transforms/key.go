package transforms

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&keyFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&orderFn{})
}

// Key spreads the keys of all documents over shards: it takes the outcomes of
// Fingerprint and, for exact keys, of Count, PCollection<[]byte> each, and returns
// one of outcomes with key runs. Band keys stand in the sketch blocks, since they
// are cheapest while a set is in the cache; exact keys depend on the whole corpus
// and are made here from the sets.
func Key(s beam.Scope, job Job, sketches beam.PCollection, counts ...beam.PCollection) beam.PCollection {
	s = s.Scope("key")
	if len(counts) == 0 {
		// The fingerprints of SimHash keys stand there, too.
		d := work.Delivery{Needed: []runfile.Kind{records.Documents}}
		if job.Keys == methods.Passages {
			d.Extra = []runfile.Kind{records.Sets}
		}
		tasks := exchange(s, job, d, sketches)
		return sideBySide(s, &keyFn{Job: job, bundle: newBundle(job)}, tasks)
	}
	tasks := beam.ParDo(s.Scope("order"), &orderFn{Job: job, planner: planner{job.runs()}}, together(s.Scope("order"), append(counts, sketches)...))
	return sideBySide(s, &keyFn{Job: job, bundle: newBundle(job)}, tasks)
}

var keyStage = newStage(work.Key)

// orderShard is where the order of shingles stands in the catalog.
const orderShard = 0

// allPairsStep is that of the tasks of keyFn where a corpus is small enough for all of
// its pairs.
const allPairsStep = 1

// orderFn makes an order of the shingles of what was counted, and the tasks that
// make keys by it.
type orderFn struct {
	Job Job

	planner
}

func (f *orderFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, keyStage, elements, emit, f.Plan)
	return err
}

// Plan adds up what was counted and makes the tasks.
func (f *orderFn) Plan(_ context.Context, p *work.Planning) error {
	if f.Job.comparesAll(p.Counts) {
		d := work.Delivery{Step: allPairsStep, Needed: []runfile.Kind{records.Documents}}
		return p.Deliver(d, work.RunsBut(p.Outcomes, work.Count))
	}
	order, err := sumCounters(p.Outcomes, f.Job.Temp, p.Memory)
	if err != nil || order == "" {
		return err
	}
	p.Runs.ReleaseStage(p.Outcomes, work.Count)
	d := work.Delivery{Needed: []runfile.Kind{records.Documents}, Extra: []runfile.Kind{records.Sets, records.Order}}
	return p.Deliver(d, append(work.RunsBut(p.Outcomes, work.Count), order))
}

type keyFn struct {
	Job Job

	bundle
	documents.Layout // read in Setup

	tables *lshbands.Permuted // of SimHash keys, planned in Setup
}

func (f *keyFn) Setup() error {
	if f.Job.Keys == methods.SimHash {
		tables, err := lshbands.PlanTables(f.Job.SimHashBits, f.Job.Distance)
		if err != nil {
			return err
		}
		f.tables = tables
	}
	return f.Read(f.Job.Inputs)
}

func (f *keyFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, keyStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		switch f.Job.Keys {
		case methods.All:
			return f.digests(ctx, w)
		case methods.Passages:
			return newPassageKeys(f.Job, f.FirstInput).split(ctx, w)
		case methods.Exact:
			if t.Step == allPairsStep {
				return f.digests(ctx, w)
			}
			return f.exact(ctx, t.Catalog, w)
		case methods.SimHash:
			return f.simhash(ctx, w)
		}
		return f.split(ctx, w)
	})
}

// split writes the key records of the documents of one split.
func (f *keyFn) split(ctx context.Context, w *work.Place) error {
	known := documents.Repeats{FirstInput: f.FirstInput}
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		w.Figures.Records += int64(block.Len())
		for i := range block.Len() {
			if err := f.document(&w.Run, block, i, &known); err != nil {
				return err
			}
		}
		return nil
	})
}

// document writes the records of one document: its keys, and a hash of its id
// to find out whether it is the only one with it.
func (f *keyFn) document(run *runfile.Writer, block *sketchblock.Block, i int, known *documents.Repeats) error {
	record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
	if record.Size == 0 {
		// A document without tokens is like those of the same digest only.
		if err := writeDigest(run, f.Job, record); err != nil {
			return err
		}
		return writeID(run, f.Job, block, i)
	}
	keys := block.Keys()
	if known.Has(record.Ref, record.Digest, block.Key(i, 0)) {
		keys = 1
	}
	for k := range keys {
		key := block.Key(i, k)
		previous := min(k, candidates.MaxPrevious)
		record.Key, record.Position, record.First = candidates.KeyOf(key, previous), uint32(k), k == 0
		b, err := run.Record(records.Keys, records.ShardOf(key, f.Job.Shards), records.KeySize+4*previous)
		if err != nil {
			return err
		}
		records.PutKey(b, record)
		copy(record.Previous[1:], record.Previous[:])
		record.Previous[0] = candidates.PreviousOf(key)
	}
	return writeID(run, f.Job, block, i)
}

// writeDigest writes the record that brings a document together with identical ones
// only.
func writeDigest(run *runfile.Writer, job Job, record candidates.Record) error {
	return writeDigestAs(records.Keys, run, job, record)
}

func writeDigestAs(kind runfile.Kind, run *runfile.Writer, job Job, record candidates.Record) error {
	record.Key, record.First = candidates.KeyOf(record.Digest, 0), true
	b, err := run.Record(kind, records.ShardOf(record.Digest, job.Shards), records.KeySize)
	if err == nil {
		records.PutKey(b, record)
	}
	return err
}

// writeID writes the hash of the id of a document, if it has one.
func writeID(run *runfile.Writer, job Job, block *sketchblock.Block, i int) error {
	id := block.ID(i)
	if len(id) == 0 {
		return nil
	}
	hash := xxh3.Hash(id)
	b, err := run.Record(records.Ids, records.ShardOf(hash, job.Shards), records.IdSize)
	if err == nil {
		binary.LittleEndian.PutUint64(b, hash)
		records.PutRef(b[8:], block.Ref(i))
	}
	return err
}

// orders are the orders of shingles of the jobs at work in this process.
var orders work.Shared[lshbands.Counter]

// readOrder returns the order in the catalog.
func readOrder(catalog string) (*lshbands.Counter, error) {
	pieces, err := runfile.ReadCatalog(catalog, orderShard)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, piece := range pieces {
		if piece.Kind == records.Order {
			size += piece.Length
		}
	}
	order, err := lshbands.CounterOf(size)
	if err != nil {
		return nil, err
	}
	var reader runfile.Reader
	defer reader.Close()
	// It fills the memory of the counter.
	if _, err := reader.ReadKind(order.Bytes()[:0], pieces, records.Order); err != nil {
		return nil, err
	}
	return order, nil
}

// exact writes the records of the documents of one split with exact keys, in the
// order of shingles that the catalog leads to.
func (f *keyFn) exact(ctx context.Context, catalog string, w *work.Place) error {
	order, err := orders.Get(catalog, readOrder)
	if err != nil {
		return fmt.Errorf("read order of shingles: %w", err)
	}
	w.Hold(order)
	prefix := lshbands.NewPrefixKeys(order, f.Job.Threshold)
	known := documents.Repeats{FirstInput: f.FirstInput}
	return w.EachBlock(ctx, func(block *sketchblock.Block, setsPiece runfile.Piece) error {
		sets, err := w.ReadPiece(1, setsPiece)
		if err != nil {
			return err
		}
		w.Figures.Records += int64(block.Len())
		w.Figures.Bytes += int64(len(sets))
		for i := range block.Len() {
			size := sketchblock.HashSize * block.Stored(i)
			w.Hashes = sketchblock.AppendSet(w.Hashes[:0], sets[:size])
			isRepeat := known.Has(block.Ref(i), block.Digest(i), xxh3.Hash(sets[:size]))
			sets = sets[size:]
			keys := prefix.Of(w.Hashes)
			if isRepeat {
				keys = keys[:min(len(keys), 1)]
			}
			if err := f.exactDocument(&w.Run, block, i, keys); err != nil {
				return err
			}
		}
		return nil
	})
}

// exactDocument is document for exact keys.
func (f *keyFn) exactDocument(run *runfile.Writer, block *sketchblock.Block, i int, keys []lshbands.PrefixKey) error {
	record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
	if record.Size == 0 {
		if err := writeDigest(run, f.Job, record); err != nil {
			return err
		}
		return writeID(run, f.Job, block, i)
	}
	for k, key := range keys {
		record.Key, record.Position, record.First = candidates.PrefixKeyOf(key.Hash), key.Position, k == 0
		b, err := run.Record(records.Keys, records.ShardOf(record.Key, f.Job.Shards), records.KeySize+4*record.Known())
		if err != nil {
			return err
		}
		records.PutKey(b, record)
		record.SetPrevious(key.Hash)
	}
	return writeID(run, f.Job, block, i)
}
