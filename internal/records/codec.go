package records

import (
	"iter"
	"sync"

	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/records/runfile"
)

// Most records are packed as package packed does. Records that a job has very many of have a layout of their own.

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Write writes a record of a kind to a shard.
func Write[T any](run *runfile.Writer, kind runfile.Kind, shard int, record *T) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = Append((*buffer)[:0], record)
	return WritePacked(run, kind, shard, *buffer)
}

// WritePacked writes records that are packed.
func WritePacked(run *runfile.Writer, kind runfile.Kind, shard int, packed []byte) error {
	b, err := run.Record(kind, shard, len(packed))
	copy(b, packed)
	return err
}

// Append packs a record.
func Append[T any](b []byte, record *T) []byte { return packed.Append(b, record) }

// Next reads the first record and returns the bytes of the others. Lists of bytes alias these. A run file has sums of
// its records, so one that cannot be read is a bug in runjob.
func Next[T any](b []byte) (record T, rest []byte) {
	rest, err := packed.Next(b, &record)
	if err != nil {
		panic(err)
	}
	return record, rest
}

// All yields the records that are packed one after the other.
func All[T any](b []byte) iter.Seq[T] {
	return func(yield func(T) bool) {
		for len(b) > 0 {
			var record T
			if record, b = Next[T](b); !yield(record) {
				return
			}
		}
	}
}
