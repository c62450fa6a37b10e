package groups

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

// sorting says how the key records of a shard are read.
type sorting struct {
	kind          runfile.Kind
	shard, shards int
	// previous, if not nil, returns the previous key for [candidates.Buckets.CountLink]. Records of buckets that this
	// drops are left out.
	previous func(packed []byte) uint64
}

// HeldBytes is how many packed key records of a shard, in bytes, a task holds so that it reads them once. More it reads
// twice.
const HeldBytes = 4 << 20

// read returns the key records of a shard in the task's memory, sorted. It goes through them twice: a shard may be the
// records of very many documents under one key. A shard above HeldBytes is read twice, too, piece by piece.
func (s sorting) read(w *work.Desk) ([]candidates.Record, error) {
	size := int64(0)
	for _, piece := range w.Pieces {
		if piece.Kind == s.kind {
			size += piece.Length
		}
	}
	each := s.each
	if size <= HeldBytes {
		held, err := w.Read(0, s.kind)
		if err != nil {
			return nil, err
		}
		each = func(_ *work.Desk, visit func([]byte) []byte) error {
			for packed := held; len(packed) > 0; {
				packed = visit(packed)
			}
			return nil
		}
	}
	low, high := records.RangeOf(s.shard, s.shards)
	buckets := candidates.NewBuckets(int(size)/records.KeySize, low, high)
	err := each(w, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if s.previous == nil {
			buckets.Count(key)
		} else {
			buckets.CountLink(key, s.previous(packed))
		}
		w.Figures.Records++
		return records.AfterKey(packed)
	})
	if err != nil {
		return nil, err
	}
	growKeys(w, buckets.Counted())
	err = each(w, func(packed []byte) []byte {
		key := binary.LittleEndian.Uint64(packed)
		if index, ok := buckets.Index(key); ok {
			return records.GetKey(packed, &w.Keys[index])
		}
		return records.AfterKey(packed)
	})
	if err != nil {
		return nil, err
	}
	w.Figures.Bytes += size
	return w.Keys, buckets.Sort(w.Keys, w.Run.Stopped)
}

// each visits the packed records. Visit returns the bytes after a record.
func (s sorting) each(w *work.Desk, visit func(packed []byte) []byte) error {
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

// growKeys makes room for n records and keeps none of the old ones. It frees the old memory first: both together may be
// more than there is.
func growKeys(w *work.Desk, n int) {
	if n > cap(w.Keys) {
		w.Keys = nil
		w.Keys = make([]candidates.Record, n)
	}
	w.Keys = w.Keys[:n]
}
