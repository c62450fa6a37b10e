package records

import (
	"encoding/binary"
	"iter"
	"sync"

	"mirrorbeam/internal/ground/runfile"
)

// codec goes through the fields of a record, in one order for both directions: it appends them to b, or reads them off b.
type codec struct {
	b         []byte
	isReading bool
}

// LaidOut is a record of this package whose method says which fields it has.
type LaidOut[T any] interface {
	*T
	fields(*codec)
}

// writers are codecs with memory for the next record.
var writers = sync.Pool{New: func() any { return new(codec) }}

// Write writes a record of a kind to a shard.
func Write[T any, R LaidOut[T]](run *runfile.Writer, kind runfile.Kind, shard int, record R) error {
	c := writers.Get().(*codec)
	defer writers.Put(c)
	c.b = c.b[:0]
	record.fields(c)
	b, err := run.Record(kind, shard, len(c.b))
	copy(b, c.b)
	return err
}

// Next reads the first record and returns the bytes of the others.
func Next[T any, R LaidOut[T]](packed []byte) (record T, rest []byte) {
	c := codec{packed, true}
	R(&record).fields(&c)
	return record, c.b
}

// Append packs a record.
func Append[T any, R LaidOut[T]](b []byte, record R) []byte {
	c := codec{b: b}
	record.fields(&c)
	return c.b
}

// All yields the records that lie packed one after the other.
func All[T any, R LaidOut[T]](packed []byte) iter.Seq[T] {
	return func(yield func(T) bool) {
		var record T
		for c := (&codec{packed, true}); len(c.b) > 0; {
			record = *new(T)
			if R(&record).fields(c); !yield(record) {
				return
			}
		}
	}
}

// small is for numbers of the given number of bytes.
func small[N ~int | ~uint8 | ~uint16 | ~uint32](c *codec, bytes int, n *N) {
	var b [8]byte
	if c.isReading {
		c.b = c.b[copy(b[:bytes], c.b):]
		*n = N(binary.LittleEndian.Uint64(b[:]))
	} else {
		binary.LittleEndian.PutUint64(b[:], uint64(*n))
		c.b = append(c.b, b[:bytes]...)
	}
}

func numbers[N ~int64 | ~uint64](c *codec, fields ...*N) {
	for _, n := range fields {
		if c.isReading {
			*n, c.b = N(binary.LittleEndian.Uint64(c.b)), c.b[8:]
		} else {
			c.b = binary.LittleEndian.AppendUint64(c.b, uint64(*n))
		}
	}
}

// short is for numbers that are small as a rule.
func (c *codec) short(fields ...*int64) {
	for _, field := range fields {
		if c.isReading {
			n, size := binary.Uvarint(c.b)
			*field, c.b = int64(n), c.b[size:]
		} else {
			c.b = binary.AppendUvarint(c.b, uint64(*field))
		}
	}
}

// texts is for texts of less than 64 KiB.
func (c *codec) texts(fields ...*string) {
	for _, text := range fields {
		if c.isReading {
			end := 2 + int(binary.LittleEndian.Uint16(c.b))
			*text, c.b = string(c.b[2:end]), c.b[end:]
		} else {
			c.b = append(binary.LittleEndian.AppendUint16(c.b, uint16(len(*text))), *text...)
		}
	}
}

func (c *codec) bytes(field []byte) {
	if c.isReading {
		c.b = c.b[copy(field, c.b):]
	} else {
		c.b = append(c.b, field...)
	}
}

// length is for the length of a list. What is read has room for as many.
func length[E any](c *codec, list *[]E) {
	n := int64(len(*list))
	if c.short(&n); c.isReading && n > 0 {
		*list = make([]E, n)
	}
}
