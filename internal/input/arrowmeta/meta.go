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
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

const (
	mostDepth = 32 // of fields in fields
	unionType = 14 // the number of a union among the types of fields
)

type Message struct {
	Kind  ipc.MessageType
	Body  int64 // bytes
	Rows  int64 // of a batch
	Codec Codec
}

type Codec int

const (
	Plain Codec = iota
	LZ4
	Zstd
)

// ParseMessage checks the metadata of a message, and reads it.
func ParseMessage(b []byte) (m Message, err error) {
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
		m.checkBatch(header)
	case ipc.MessageRecordBatch:
		m.checkBatch(header)
	}
	if err == nil && m.Rows < 0 {
		err = ErrMetadata
	}
	return m, err
}

func (m *Message) checkBatch(batch table) {
	m.Rows = batch.int64(0)
	for number, size := range map[int]int{1: 16, 2: 16, 4: 8} { // nodes, buffers, counts of the buffers of views
		at, n := batch.vector(number, size)
		for i := range n {
			// The library makes room for as many buffers as a view says.
			if room := int64(len(batch.Bytes) / 16); size == 8 && uint64(batch.int64At(at+8*i)) > uint64(room) {
				panic(ErrMetadata)
			}
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
	if _, err := ParseMessage(stream[frame:][:binary.LittleEndian.Uint32(stream[4:])]); err != nil {
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

// pandasTypes are what pandas calls the types of added fields: the type of the values, and the type of a column, which
// may have nulls.
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
