package records

import (
	"iter"
	"unsafe"

	"mirrorbeam.dev/internal/records/runfile"
)

// Records of one size are the memory of their type. It has neither pointers nor padding, and numbers are little-endian
// on all machines that the program is built for.

// Size returns the size of the records of a type.
func Size[T any]() int {
	var record T
	return int(unsafe.Sizeof(record))
}

func memoryOf[T any](record *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(record)), Size[T]())
}

// Put packs a record of one size.
func Put[T any](b []byte, record T) { copy(b[:Size[T]()], memoryOf(&record)) }

// Get reads a record of one size.
func Get[T any](b []byte) (record T) {
	copy(memoryOf(&record), b[:Size[T]()])
	return record
}

// At reads one of the records of one size, given its number.
func At[T any](packed []byte, i int) T { return Get[T](packed[i*Size[T]():]) }

// Each yields records of one size.
func Each[T any](packed []byte) iter.Seq[T] {
	return func(yield func(T) bool) {
		for ; len(packed) > 0; packed = packed[Size[T]():] {
			if !yield(Get[T](packed)) {
				return
			}
		}
	}
}

// WriteFixed writes a record of one size to a shard.
func WriteFixed[T any](run *runfile.Writer, kind runfile.Kind, shard int, record T) error {
	b, err := run.Record(kind, shard, Size[T]())
	if err == nil {
		Put(b, record)
	}
	return err
}
