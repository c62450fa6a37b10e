package groups

import (
	"cmp"
	"encoding/binary"
	"unsafe"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

type sorting struct {
	kind          runfile.Kind
	shard, shards int
	// previous, if not nil, returns the previous key for [candidates.Buckets.CountLink]. Records of buckets that this
	// drops are left out.
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

// RecordsAtATime returns how many key records a task sorts at a time that may hold a number of bytes of them. A shard
// has more where many documents are short, or where each of them has many keys. Then it is read once for each part that
// is sorted.
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
	for _, piece := range w.Pieces {
		if piece.Kind != s.kind {
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

// growKeys makes room for n new records. It frees the old memory first: both together may be more than there is.
func growKeys(w *work.TaskContext, n int) {
	if n > cap(w.Keys) {
		w.Keys = nil
		w.Keys = make([]candidates.Record, n)
	}
	w.Keys = w.Keys[:n]
}
