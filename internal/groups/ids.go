package groups

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/radix"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// WriteID writes the hash of the id of a document to one of the shards of ids, if the document has an id.
func WriteID(run *runfile.Writer, shards int, ref docref.Ref, id []byte) error {
	if len(id) == 0 {
		return nil
	}
	hash := xxh3.Hash(id)
	b, err := run.Record(records.IDs, records.ShardOf(hash, shards), records.IDSize)
	if err == nil {
		binary.LittleEndian.PutUint64(b, hash)
		records.PutRef(b[8:], ref)
	}
	return err
}

// RepeatedIDs finds the documents of a shard of ids that share their id with another document, and writes them by
// split. Starts are the first refs of the splits.
func RepeatedIDs(w *work.Desk, starts []docref.Ref) error {
	packed, err := w.Read(0, records.IDs)
	if err != nil {
		return err
	}
	type record struct {
		hash uint64
		ref  docref.Ref
	}
	ids := make([]record, len(packed)/records.IDSize)
	for i := range ids {
		b := packed[i*records.IDSize:]
		ids[i] = record{binary.LittleEndian.Uint64(b), records.GetRef(b[8:])}
	}
	ids = radix.Sort(ids, make([]record, len(ids)), func(r *record) uint64 { return r.hash })
	for i, r := range ids {
		if (i == 0 || ids[i-1].hash != r.hash) && (i+1 == len(ids) || ids[i+1].hash != r.hash) {
			continue
		}
		b, err := w.Run.Record(records.Repeated, documents.SplitOf(starts, r.ref), records.RefSize)
		if err != nil {
			return err
		}
		records.PutRef(b, r.ref)
	}
	return nil
}
