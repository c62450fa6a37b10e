// Package arrowmeta checks the metadata of Apache Arrow before a library reads it, and adds fields to schemas. Metadata
// may be made to do harm: a field may hold itself, and a list may claim to be longer than the file.
package arrowmeta

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"mirrorbeam.dev/internal/input/corpus"
)

const (
	mostDepth = 32 // of fields in fields
	unionType = 14 // the number of a union among the types of fields
)

// Message is what the metadata of a message of a stream says.
type Message struct {
	Kind  ipc.MessageType
	Body  int64 // bytes
	Rows  int64 // of a batch
	Codec Codec
}

// Codec is how the buffers of a batch are compressed.
type Codec int

const (
	Plain Codec = iota
	LZ4
	Zstd
)

// Views are how many arrays of views a batch has, and a batch of a dictionary at most.
type Views struct{ Batch, Dictionary int }

// ViewsOf returns the views of a schema.
func ViewsOf(schema *arrow.Schema) (v Views) {
	var count func(t arrow.DataType) int
	count = func(t arrow.DataType) (views int) {
		switch t := t.(type) {
		case arrow.BinaryViewDataType:
			return 1
		case *arrow.DictionaryType: // its values are in batches of their own
			v.Dictionary = max(v.Dictionary, count(t.ValueType))
		case arrow.ExtensionType:
			return count(t.StorageType())
		case arrow.NestedType:
			for _, field := range t.Fields() {
				views += count(field.Type)
			}
		}
		return views
	}
	for _, field := range schema.Fields() {
		v.Batch += count(field.Type)
	}
	return v
}

// ParseMessage checks the metadata of a message of a stream with some views, and reads it.
func ParseMessage(b []byte, views Views) (m Message, err error) {
	defer recovered(&err)
	root := rootOf(b)
	m.Kind, m.Body = ipc.MessageType(root.int8(1)), root.int64(3)
	header, isThere := root.table(2)
	if !isThere || m.Body < 0 {
		return m, ErrMetadata
	}
	if version := root.int16(0); version < 3 { // of Arrow before 0.8
		return m, errors.New("it was written by an old version of Arrow: write it again")
	}
	switch m.Kind {
	case ipc.MessageSchema:
		err = checkSchema(header)
	case ipc.MessageDictionaryBatch:
		header, _ = header.table(1)
		m.checkBatch(header, views.Dictionary)
	case ipc.MessageRecordBatch:
		m.checkBatch(header, views.Batch)
	}
	if err == nil && m.Rows < 0 {
		err = ErrMetadata
	}
	return m, err
}

func (m *Message) checkBatch(batch table, views int) {
	m.Rows = batch.int64(0)
	batch.vector(1, 16) // nodes
	batch.vector(2, 16) // buffers
	// The library reads a count of buffers for each view, even behind the vector, and makes room for as many.
	counts, n := batch.vector(4, 8)
	room := uint64(len(batch.Bytes) / 16)
	for i := 0; counts > 0 && i < max(n, views); i++ {
		if uint64(batch.int64At(counts+8*i)) > room {
			panic(ErrMetadata)
		}
	}
	if compression, isThere := batch.table(3); isThere {
		m.Codec = LZ4
		if compression.int8(0) == 1 {
			m.Codec = Zstd
		}
	}
}

func checkSchema(schema table) error {
	if schema.int16(0) != 0 {
		return errors.New(
			"its numbers have their highest byte first, which is not read: write it with little-endian numbers")
	}
	schema.vector(2, 4)
	schema.vector(3, 8)
	return checkFields(schema, 1, 0)
}

func checkFields(t table, number, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("%w: its fields are nested more than %d deep", ErrMetadata, mostDepth)
	}
	at, n := t.vector(number, 4)
	for i := range n {
		field := t.at(at + 4*i)
		field.vector(6, 4)
		if of, isThere := field.table(3); isThere && field.int8(2) == unionType {
			of.vector(1, 4)
		}
		if err := checkFields(field, 5, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Block is where a message is in a file.
type Block struct {
	Offset   int64
	Metadata int64 // bytes, with those that frame it
	Body     int64
}

// ParseFooter reads the footer of a file: a message with its schema, and where its dictionaries and its batches are.
func ParseFooter(b []byte) (schema []byte, blocks []Block, err error) {
	defer recovered(&err)
	root := rootOf(b)
	header, isThere := root.table(1)
	if !isThere {
		return nil, nil, ErrMetadata
	}
	if err := checkSchema(header); err != nil {
		return nil, nil, err
	}
	const size = 24
	for number := 2; number <= 3; number++ { // dictionaries, then batches
		at, n := root.vector(number, size)
		for i := range n {
			begin := at + size*i
			block := Block{
				Offset:   root.int64At(begin),
				Metadata: int64(root.GetInt32(flatbuffers.UOffsetT(begin + 8))),
				Body:     root.int64At(begin + 16),
			}
			if block.Offset < 0 || block.Metadata < 8 || block.Body < 0 {
				return nil, nil, ErrMetadata
			}
			blocks = append(blocks, block)
		}
	}
	return slices.Concat(schemaMessage(root.int16(0), int(header.Pos)), b), blocks, nil
}

// schemaMessage returns the head of a message whose schema is in the bytes that follow it, at that place.
func schemaMessage(version, at int) []byte {
	const (
		length = 32
		root   = 16 // where the table of the message begins; its list of fields begins at 4
	)
	b := binary.LittleEndian.AppendUint32(nil, root)
	for _, n := range []uint16{12, 12, 8, 10, 4, 0} { // sizes of the list and of the table, then where the fields are
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, root-4)
	b = binary.LittleEndian.AppendUint32(b, uint32(length+at-(root+4)))
	b = binary.LittleEndian.AppendUint16(b, uint16(version))
	b = append(b, byte(ipc.MessageSchema))
	return append(b, make([]byte, length-len(b))...)
}

// AddFields adds fields to a schema in the form in which Parquet files keep one: a stream of Arrow in base64.
func AddFields(stored string, fields ...arrow.Field) (_ string, err error) {
	defer recovered(&err)
	const frame = 8
	stream, err := base64.StdEncoding.DecodeString(stored)
	if err != nil || len(stream) < frame || uint64(binary.LittleEndian.Uint32(stream[4:])) > uint64(len(stream)-frame) {
		return "", ErrMetadata
	}
	if _, err := ParseMessage(stream[frame:][:binary.LittleEndian.Uint32(stream[4:])], Views{}); err != nil {
		return "", err
	}
	reader, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	writer := ipc.NewWriter(&b, ipc.WithSchema(WithFields(reader.Schema(), fields...)))
	if err := writer.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// Column is a column that copied rows get.
type Column struct {
	arrow.Field
	// Of returns its value in a row: an int64, a bool, a string, or nil for null. It may be asked several times.
	Of func(row int64) any
}

// Added returns the columns of annotations. The names of documents are 64 bits or strings, or null.
func Added(annotations *corpus.Annotations) (added []Column) {
	for _, column := range corpus.ColumnsNamed(annotations.Columns) {
		one := arrow.Field{Name: column.Name, Type: arrow.PrimitiveTypes.Int64}
		switch column.Of(&corpus.Annotation{}).(type) {
		case bool:
			one.Type = arrow.FixedWidthTypes.Boolean
		case corpus.DocumentName:
			if one.Nullable = true; !annotations.HaveIntegers {
				one.Type = arrow.BinaryTypes.String
			}
		}
		added = append(added, Column{one, func(row int64) any {
			annotation := annotations.Of(row)
			value := column.Of(&annotation)
			name, isName := value.(corpus.DocumentName)
			switch n, err := strconv.ParseInt(string(name), 10, 64); {
			case !isName:
				return value
			case annotations.HaveIntegers && err == nil:
				return n
			case annotations.HaveIntegers, name == "":
				return nil
			}
			return string(name)
		}})
	}
	return added
}

// WithFields returns a schema with fields added, also to what pandas says of it.
func WithFields(schema *arrow.Schema, fields ...arrow.Field) *arrow.Schema {
	metadata := schema.Metadata()
	pairs := metadata.ToMap()
	if described, err := AddPandas(pairs[PandasKey], fields...); err == nil {
		pairs[PandasKey] = described
	}
	metadata = arrow.MetadataFrom(pairs)
	return arrow.NewSchema(append(slices.Clone(schema.Fields()), fields...), &metadata)
}

// PandasKey is the key under which pandas describes a table in the metadata of its schema.
const PandasKey = "pandas"

// pandasTypes are pandas' names of the types of added fields: of the values, and of a column that may have nulls.
var pandasTypes = map[arrow.Type][2]string{
	arrow.STRING: {"unicode", "object"}, arrow.INT64: {"int64", "Int64"}, arrow.BOOL: {"bool", "bool"},
}

// AddPandas adds fields to what pandas says of a table, so that it reads whole numbers as such though some are null.
// Described is empty if pandas says nothing yet.
func AddPandas(described string, fields ...arrow.Field) (string, error) {
	table := map[string]json.RawMessage{}
	var columns []json.RawMessage
	if described == "" {
		described = `{"index_columns":[],"column_indexes":[],"columns":[]}`
	}
	if err := json.Unmarshal([]byte(described), &table); err != nil {
		return "", err
	}
	if err := json.Unmarshal(table["columns"], &columns); err != nil {
		return "", err
	}
	for _, field := range fields {
		types := pandasTypes[field.Type.ID()]
		if !field.Nullable {
			types[1] = strings.ToLower(types[1])
		}
		column := fmt.Appendf(nil,
			`{"name":%q,"field_name":%[1]q,"pandas_type":%[2]q,"numpy_type":%[3]q,"metadata":null}`,
			field.Name, types[0], types[1])
		columns = append(columns, column)
	}
	var err error
	if table["columns"], err = json.Marshal(columns); err != nil {
		return "", err
	}
	all, err := json.Marshal(table)
	return string(all), err
}

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
