package groups

import (
	"cmp"
	"encoding/binary"
	"unsafe"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

type sorting struct {
	kind          runfile.Kind
	shard, shards int
	// previous, if not nil, returns the previous key for [candidates.Buckets.CountLink], which may drop records.
	previous func(packed []byte) uint64
	// premerger, if not nil, merges equal documents of a large shard early. isPremerged says that they are.
	premerger   *premerger
	isPremerged bool
	held        int // records that are sorted at a time; 0 for leastRecords
}

// eachRecord visits packed records. The visitor returns the bytes after a record.
type eachRecord func(w *work.TaskContext, visit func(packed []byte) []byte) error

// HeldBytes is how many bytes of packed key records of a shard a task holds, to read them once. More it reads twice.
const HeldBytes = 4 << 20

const (
	// leastRecords is how many key records a task sorts at a time at least, some 46 MB.
	leastRecords = 512 << 10
	recordBytes  = int64(unsafe.Sizeof(candidates.Record{}))
)

// RecordsAtATime returns how many key records a task sorts at a time in that many bytes. A shard has more where many
// documents are short, or where each of them has many keys. Then it is read once for each part that is sorted.
func RecordsAtATime(bytes int64) int { return max(int(bytes/recordBytes), leastRecords) }

// read visits the key records of a shard, sorted, in the task's memory: all of them at once, or some keys after the
// other if they are very many. It goes through them twice: a shard may be the records of very many documents under one
// key. A shard above HeldBytes is read twice, too, piece by piece, and once more for each further visit.
func (s sorting) read(w *work.TaskContext, visit func(keys []candidates.Record) error) error {
	size, each := runfile.SizeOf(w.Pieces, s.kind), s.each
	if size <= HeldBytes {
		held, err := w.Read(0, s.kind)
		if err != nil {
			return err
		}
		each = func(_ *work.TaskContext, visit func([]byte) []byte) error {
			for packed := held; len(packed) > 0; {
				packed = visit(packed)
			}
			return nil
		}
	}
	buckets, err := s.count(w, each, size)
	if err != nil {
		return err
	}
	w.Figures.Bytes += size
	buckets.Counted()
	for n := range buckets.Windows(cmp.Or(s.held, leastRecords)) {
		growKeys(w, n)
		err := s.fill(w, each, buckets)
		if err == nil {
			err = buckets.Sort(w.Keys, w.Run.Stopped)
		}
		if err == nil {
			err = visit(w.Keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sorting) fill(w *work.TaskContext, each eachRecord, buckets *candidates.Buckets) (failed error) {
	err := each(w, func(packed []byte) []byte {
		if class, is := s.premerger.takes(packed); is {
			if !s.isPremerged {
				failed = cmp.Or(failed, s.premerger.put(class, packed))
			}
			return records.AfterKey(packed)
		}
		key := binary.LittleEndian.Uint64(packed)
		if index, ok := buckets.Index(key); ok {
			return records.GetKey(packed, &w.Keys[index])
		}
		return records.AfterKey(packed)
	})
	if s.premerger != nil {
		s.isPremerged = true
		s.premerger.begin()
	}
	return cmp.Or(err, failed)
}

// count counts the records that are not merged early. If some are to be, it reads all of them once more.
func (s *sorting) count(w *work.TaskContext, each eachRecord, size int64) (*candidates.Buckets, error) {
	if s.premerger != nil && size < cmp.Or(s.premerger.stars.bytes, LargeShard) {
		s.premerger = nil
	}
	var buckets *candidates.Buckets
	low, high := records.RangeOf(s.shard, s.shards)
	read := func(visit func(packed []byte) (isPremerged bool)) error {
		buckets = candidates.NewBuckets(int(size)/records.KeySize, low, high)
		return each(w, func(packed []byte) []byte {
			key := binary.LittleEndian.Uint64(packed)
			switch {
			case visit(packed):
			case s.previous == nil:
				buckets.Count(key)
			default:
				buckets.CountLink(key, s.previous(packed))
			}
			return records.AfterKey(packed)
		})
	}
	err := read(func(packed []byte) bool {
		if w.Figures.Records++; s.premerger != nil {
			s.premerger.vote(packed)
		}
		return false
	})
	if err != nil || s.premerger == nil {
		return buckets, err
	}
	if !s.premerger.begin() {
		s.premerger = nil
		return buckets, nil
	}
	err = read(func(packed []byte) bool {
		_, is := s.premerger.takes(packed)
		return is
	})
	s.premerger.begin()
	return buckets, err
}

func (s sorting) each(w *work.TaskContext, visit func(packed []byte) []byte) error {
	for piece := range s.kind.Of(w.Pieces) {
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

// growKeys makes room for n new records. It frees the old memory first: both together may be more than there is.
func growKeys(w *work.TaskContext, n int) {
	if n > cap(w.Keys) {
		w.Keys = nil
		w.Keys = make([]candidates.Record, n)
	}
	w.Keys = w.Keys[:n]
}

// Keyed goes through the groups of documents that share a key.
type Keyed struct {
	Layout *documents.Layout
	// Shards is the number of shards over which the keys are spread.
	Shards int
	// Threshold is the least similarity that the sizes of two documents must allow, from 0 to 1; 0 rules no pair out.
	Threshold float64
	// Exact says that the keys are made by [candidates.PrefixKeyOf].
	Exact bool
	// Stars says that documents of a dense group are compared with the first one instead of gathered in hot groups.
	Stars  bool
	Bounds *Bounds
	// KeyBytes is about how many bytes of key records a task may hold. It changes no result.
	KeyBytes int64
	// Unchanged, if not nil, are the files of an incremental run whose documents are pruned. Reused are these files if
	// [Known] writes the pairs of two unchanged documents, so that no other stage forms them.
	Unchanged, Reused documents.Unchanged
	// TellsLasting writes, for the next run of a scheduled job, the keys of oversized groups and of equal documents.
	// What is compared under these depends on all documents that have them.
	TellsLasting bool

	large large
}

// Shard goes through a shard for the first time. It writes the candidate pairs, the stars of equal documents, which are
// edges already, and the oversized groups, which wait.
func (k *Keyed) Shard(w *work.TaskContext, shard int) error {
	equal := Stars{
		run:          &w.Run,
		part:         shard,
		shard:        shard,
		shards:       k.Shards,
		large:        k.large,
		tellsLasting: k.TellsLasting,
	}
	var failed error
	pairs := NewPairs(w, shard)
	pairs.reused = k.Reused
	g := k.grouper(w, &pairs, &failed)
	g.Identical = func(first, other *candidates.Record) { failed = cmp.Or(failed, equal.add(first, other)) }
	g.Oversized = func(group []candidates.Record, pairs int64) {
		w.Outcome.OversizedPairs += pairs
		w.Outcome.NewOversizedPairs += pairs - g.OversizedWithout(group, func(r *candidates.Record) bool {
			return !k.Unchanged.Has(r.Ref)
		})
		w.Outcome.OversizedGroups = append(w.Outcome.OversizedGroups, work.OversizedGroup{
			ID:    g.KeyID(&group[0]),
			Pairs: pairs,
		})
		failed = cmp.Or(failed, records.WriteOversized(&w.Run, shard, group, pairs), equal.tellLasting(group[0].Key))
	}
	sorting := sorting{
		kind:      records.Keys,
		shard:     shard,
		shards:    k.Shards,
		held:      cmp.Or(k.large.records, RecordsAtATime(k.KeyBytes)),
		previous:  func(packed []byte) uint64 { return records.PreviousKey(packed, k.Exact) },
		premerger: &premerger{stars: &equal, firstInput: k.Layout.FirstInput},
	}
	err := sorting.read(w, func(keys []candidates.Record) error {
		g.Groups(keys)
		return failed
	})
	if err != nil {
		return err
	}
	return pairs.Finish()
}

func stopped(w *work.TaskContext, failed *error) bool {
	if *failed == nil && w.Run.Stopped != nil {
		*failed = w.Run.Stopped()
	}
	return *failed != nil
}

// grouper returns a Grouper that writes its pairs. It stops when the task has failed or nobody wants its outcome.
func (k *Keyed) grouper(w *work.TaskContext, pairs *Pairs, failed *error) *candidates.Grouper {
	return &candidates.Grouper{
		Threshold:      k.Threshold,
		MaxComparisons: k.Bounds.Group,
		Exact:          k.Exact,
		FirstInput:     k.Layout.FirstInput,
		Stopped:        func() bool { return stopped(w, failed) },
		Candidate: func(a, b *candidates.Record) {
			if err := pairs.Add(a, b); err != nil {
				*failed = err
			}
		},
	}
}
