package groups

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// HashID returns the hash of an id that is not empty.
func HashID(id []byte) uint64 { return xxh3.Hash(id) }

// WriteID writes the hash of the id of a document to one of the shards of ids.
func WriteID(run *runfile.Writer, shards int, ref docref.Ref, hash uint64) error {
	return records.WriteFixed(run, records.IDs, records.ShardOf(hash, shards), idRecord{hash, ref})
}

// RepeatedIDs finds the documents of a shard of ids that share their id with another document, and writes them by
// split, and the hashes of these ids for the next run of a scheduled job. It counts the ones of the input. All ids of
// one hash are in one shard, so the counts of all shards are exact.
func RepeatedIDs(w *work.TaskContext, layout *documents.Layout) error {
	packed, err := w.Read(0, records.IDs)
	if err != nil {
		return err
	}
	ids := slices.AppendSeq(make([]idRecord, 0, len(packed)/records.IDSize), records.Each[idRecord](packed))
	ids = graphs.RadixSort(ids, make([]idRecord, len(ids)), func(r *idRecord) uint64 { return r.hash })
	var found sharing
	var shared []byte // their hashes
	for same := range graphs.Runs(ids, func(a, b *idRecord) bool { return a.hash == b.hash }) {
		if len(same) == 1 {
			continue
		}
		w.Outcome.SharedIDs++
		shared = binary.LittleEndian.AppendUint64(shared, same[0].hash)
		found.add(same, layout.FirstInput)
		for _, r := range same {
			if err := layout.Mark(&w.Run, records.Repeated, r.ref); err != nil {
				return err
			}
		}
	}
	if len(shared) > 0 {
		if err := w.Run.Section(records.SharedIDs, 0, shared); err != nil {
			return err
		}
	}
	if found.ids > 0 {
		w.Outcome.Counts.RepeatedIDs += found.ids
		w.Outcome.Repeated = findings.RepeatedIDs{Documents: found.documents, Example: findings.IDExample{
			At:     uint64(found.first),
			First:  layout.Inputs.Name(found.first),
			Second: layout.Inputs.Name(found.second),
		}}
	}
	return nil
}

// EachSharedID visits the hashes of ids that several documents of the last run share, in a run file of that run.
func EachSharedID(path string, m *work.Memory, visit func(hash uint64)) error {
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	m.Buffers[0], err = reader.ReadKind(m.Buffers[0][:0], pieces, records.SharedIDs)
	for packed := m.Buffers[0]; err == nil && len(packed) > 0; packed = packed[8:] {
		visit(binary.LittleEndian.Uint64(packed))
	}
	return err
}

type idRecord struct {
	hash uint64
	ref  docref.Ref
}

type sharing struct {
	ids, documents int64
	first, second  docref.Ref // the first document, and the next one with its id
}

// add adds documents of one id. Those before firstInput are documents of the reference.
func (s *sharing) add(same []idRecord, firstInput docref.Ref) {
	var refs []docref.Ref
	for _, r := range same {
		if r.ref >= firstInput {
			refs = append(refs, r.ref)
		}
	}
	if len(refs) < 2 {
		return
	}
	slices.Sort(refs)
	if s.ids == 0 || refs[0] < s.first {
		s.first, s.second = refs[0], refs[1]
	}
	s.ids++
	s.documents += int64(len(refs))
}

// Equals brings only equal documents together. It serves where all pairs of a corpus are compared.
type Equals struct {
	FirstInput docref.Ref
	// Shards is the number of shards over which the keys are spread.
	Shards int

	large large
}

// Shard writes the stars of equal documents of a shard, and its distinct documents.
func (e *Equals) Shard(w *work.TaskContext, shard int) error {
	equal := Stars{run: &w.Run, part: shard, shard: shard, shards: e.Shards, large: e.large}
	var failed error
	g := candidates.Grouper{
		MaxComparisons: math.MaxInt64,
		FirstInput:     e.FirstInput,
		Stopped:        func() bool { return stopped(w, &failed) },
		Candidate:      func(_, _ *candidates.Record) {},
		Identical:      func(first, other *candidates.Record) { failed = cmp.Or(failed, equal.add(first, other)) },
	}
	distinct := graphs.Node(0)
	sorting := sorting{
		kind:      records.Digests,
		shard:     shard,
		shards:    e.Shards,
		held:      e.large.records,
		premerger: &premerger{stars: &equal, firstInput: e.FirstInput},
	}
	return sorting.read(w, func(keys []candidates.Record) error {
		if distinct, failed = e.writeDistinct(&w.Run, shard, keys, distinct); failed == nil {
			g.Groups(keys)
		}
		return failed
	})
}

// writeDistinct writes the first document under each key as a node. Each of these is compared with every other. The
// second document of its class, if any, is a node joined to it; see [candidates.Class]. Next is the next node's number.
func (e *Equals) writeDistinct(run *runfile.Writer, shard int, keys []candidates.Record,
	next graphs.Node,
) (graphs.Node, error) {
	for class := range graphs.Runs(keys, func(a, b *candidates.Record) bool { return a.Digest == b.Digest }) {
		first := &class[0]
		if first.Size == 0 {
			continue
		}
		second := slices.IndexFunc(class, func(r candidates.Record) bool {
			return r.Side != first.Side || first.Ref < e.FirstInput && r.Ref >= e.FirstInput
		})
		center := next
		for _, i := range []int{0, second} {
			if i < 0 {
				continue
			}
			node := records.Node{Ref: class[i].Ref, Weight: first.Size, Parent: center}
			if err := records.WriteFixed(run, records.Distinct, shard, node); err != nil {
				return next, err
			}
			next++
		}
	}
	return next, nil
}
