package arrowmeta

import (
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
)

var ErrMetadata = errors.New("the metadata is damaged")

// mostTables is how many tables metadata may have. A field of a schema is three.
const mostTables = 1 << 20

// table is a table of FlatBuffers. To read what is outside of its buffer is a panic, see recovered.
type table struct {
	flatbuffers.Table
	left *int // tables that may still be read: one that points to itself must end
}

// recovered turns a panic over damaged metadata into an error.
func recovered(err *error) {
	if recover() != nil {
		*err = ErrMetadata
	}
}

func rootOf(b []byte) table {
	left := mostTables
	return table{flatbuffers.Table{Bytes: b}, &left}.at(0)
}

func (t table) at(place int) table {
	if *t.left--; *t.left < 0 {
		panic(ErrMetadata)
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(place))}, t.left}
}

// slot is where the list of the fields of a table has the field of a number.
func slot(number int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*number) }

func (t table) int8(number int) int    { return int(t.GetByteSlot(slot(number), 0)) }
func (t table) int16(number int) int   { return int(t.GetInt16Slot(slot(number), 0)) }
func (t table) int64(number int) int64 { return t.GetInt64Slot(slot(number), 0) }
func (t table) int64At(at int) int64   { return t.GetInt64(flatbuffers.UOffsetT(at)) }

func (t table) table(number int) (inner table, isThere bool) {
	field := t.Offset(slot(number))
	if field == 0 {
		return table{}, false
	}
	return t.at(int(t.Pos) + int(field)), true
}

// vector returns where the elements of a vector of elements of a size begin, and how many there are.
func (t table) vector(number, size int) (at, n int) {
	field := flatbuffers.UOffsetT(t.Offset(slot(number)))
	if field == 0 {
		return 0, 0
	}
	at, n = int(t.Vector(field)), t.VectorLen(field)
	if n > (len(t.Bytes)-at)/size {
		panic(ErrMetadata)
	}
	return at, n
}
