package arrowmeta

import (
	"encoding/binary"
	"errors"
)

var ErrMetadata = errors.New("the metadata is damaged")

// table is a table of FlatBuffers. What is outside of its buffer is absent, and notes the fault.
type table struct {
	buffer *flat
	at     int // where the table begins
}

// flat is a buffer of FlatBuffers.
type flat struct {
	bytes  []byte
	isBad  bool
	tables int // that may still be read: one that points to itself must end
}

// mostTables is how many tables metadata may have. A field of a schema is three.
const mostTables = 1 << 20

// rootOf returns the table that a buffer holds.
func rootOf(b []byte) (table, *flat) {
	f := &flat{bytes: b, tables: mostTables}
	return f.table(0), f
}

// slice returns n bytes, or zeros if they are not there.
func (f *flat) slice(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.bytes)-n {
		f.isBad = true
		return make([]byte, min(max(n, 0), 8))
	}
	return f.bytes[at : at+n]
}

func (f *flat) uint16(at int) int { return int(binary.LittleEndian.Uint16(f.slice(at, 2))) }
func (f *flat) uint32(at int) int { return int(binary.LittleEndian.Uint32(f.slice(at, 4))) }
func (f *flat) int64(at int) int64 {
	return int64(binary.LittleEndian.Uint64(f.slice(at, 8)))
}

// table follows the offset at a place.
func (f *flat) table(at int) table {
	if f.tables--; f.tables < 0 {
		f.isBad = true
	}
	return table{f, at + f.uint32(at)}
}

// field returns the offset of a field, 0 if the table does not have it.
func (t table) field(number int) int {
	if t.buffer == nil || t.buffer.isBad {
		return 0
	}
	vtable := t.at - int(int32(t.buffer.uint32(t.at)))
	entry := 4 + 2*number
	if entry+2 > t.buffer.uint16(vtable) {
		return 0
	}
	if offset := t.buffer.uint16(vtable + entry); offset > 0 {
		return t.at + offset
	}
	return 0
}

func (t table) int8(number int) int {
	if at := t.field(number); at > 0 {
		return int(t.buffer.slice(at, 1)[0])
	}
	return 0
}

func (t table) int16(number, usual int) int {
	if at := t.field(number); at > 0 {
		return int(int16(t.buffer.uint16(at)))
	}
	return usual
}

func (t table) int64(number int) int64 {
	if at := t.field(number); at > 0 {
		return t.buffer.int64(at)
	}
	return 0
}

func (t table) table(number int) (inner table, isThere bool) {
	at := t.field(number)
	if at == 0 {
		return table{}, false
	}
	return t.buffer.table(at), true
}

// vector returns where the elements of a vector of elements of a size begin, and how many there are.
func (t table) vector(number, size int) (at, n int) {
	if at = t.field(number); at == 0 {
		return 0, 0
	}
	at += t.buffer.uint32(at)
	n = t.buffer.uint32(at)
	if n > (len(t.buffer.bytes)-at-4)/size {
		t.buffer.isBad = true
		return 0, 0
	}
	return at + 4, n
}
