package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/runfile"
)

// codec goes through the fields of a record, in one order for both directions: it appends them to b, or reads them off b.
type codec struct {
	b         []byte
	isReading bool
}

// laidOut is a record whose method says which fields it has.
type laidOut[T any] interface {
	*T
	fields(*codec)
}

func write[T any, R laidOut[T]](run *runfile.Writer, kind runfile.Kind, shard int, record R) error {
	c := codec{b: make([]byte, 0, 512)} // most records are shorter
	record.fields(&c)
	b, err := run.Record(kind, shard, len(c.b))
	copy(b, c.b)
	return err
}

// next reads the first record and returns the bytes of the others.
func next[T any, R laidOut[T]](packed []byte) (record T, rest []byte) {
	c := codec{packed, true}
	R(&record).fields(&c)
	return record, c.b
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
