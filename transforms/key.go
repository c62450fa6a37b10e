package transforms

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&keyFn{})
}

// Key spreads the keys of all documents over shards: PCollection<[]byte> of
// fingerprint outcomes to one of outcomes with key runs. Band keys stand in the
// sketch blocks, since they are cheapest while a set is in the cache; keys that
// depend on the whole corpus would be made here from the sets.
func Key(s beam.Scope, job Job, sketches beam.PCollection) beam.PCollection {
	s = s.Scope("key")
	tasks := exchange(s, job, delivery{Needed: []runfile.Kind{documentsKind}}, sketches)
	return inLanes(s, job, &keyFn{Job: job}, tasks)
}

var keyStage = newStage("key")

type keyFn struct {
	Job Job
}

func (f *keyFn) ProcessElement(ctx context.Context, element []byte, emit func([]byte)) error {
	return emitRun(ctx, keyStage, f.Job, element, emit, func(_ task, w *workplace) error { return f.split(ctx, w) })
}

// split writes the key records of the documents of one split.
func (f *keyFn) split(ctx context.Context, w *workplace) error {
	return w.eachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		keyStage.records.Inc(ctx, int64(block.Len()))
		for i := range block.Len() {
			if err := f.document(&w.run, block, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// document writes the records of one document: its keys, and a hash of its id
// to find out whether it is the only one with it.
func (f *keyFn) document(run *runfile.Writer, block *sketchblock.Block, i int) error {
	record := candidates.Record{Ref: block.Ref(i), Digest: block.Digest(i), Size: uint32(block.Size(i))}
	n := block.Keys()
	// A document without tokens is like those of the same digest only, and where
	// all pairs are compared no key is needed but to find identical documents.
	byDigest := record.Size == 0 || f.Job.Keys == All
	if byDigest {
		n = 1
	}
	for k := range n {
		key := record.Digest
		if !byDigest {
			key = block.Key(i, k)
		}
		previous := min(k, candidates.MaxPrevious)
		record.Key = candidates.KeyOf(key, previous)
		b, err := run.Record(keysKind, shardOf(key, f.Job.Shards), keySize+4*previous)
		if err != nil {
			return err
		}
		putKey(b, record)
		copy(record.Previous[1:], record.Previous[:])
		record.Previous[0] = uint32(key >> 3)
	}
	id := block.ID(i)
	if len(id) == 0 {
		return nil
	}
	hash := xxh3.Hash(id)
	b, err := run.Record(idsKind, shardOf(hash, f.Job.Shards), idSize)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, hash)
	putRef(b[8:], record.Ref)
	return nil
}

// shardOf cuts the range of evenly spread hashes into shards of equal width.
func shardOf(hash uint64, shards int) int {
	high, _ := bits.Mul64(hash, uint64(shards))
	return int(high)
}
