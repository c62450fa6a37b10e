package parquetfile

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// copied is a part of the schema of a copy: a column or a struct of the file, maybe with columns added behind.
type copied struct {
	parquet.Field
	fields []parquet.Field
	codec  compress.Codec
}

// schemaOfCopy returns the schema of a file for a copy, with columns added behind.
func schemaOfCopy(f *File, added []addedColumn) parquet.Node {
	number := 0
	var walk func(part parquet.Field) copied
	walk = func(part parquet.Field) copied {
		c := copied{Field: part}
		if part.Leaf() {
			if groups := f.metadata.RowGroups; len(groups) > 0 {
				c.codec = parquet.LookupCompressionCodec(groups[0].Columns[number].MetaData.Codec)
			}
			number++
		}
		for _, field := range part.Fields() {
			c.fields = append(c.fields, walk(field))
		}
		return c
	}
	root := walk(f.inner.Root())
	for _, column := range added {
		root.fields = append(root.fields, addedField{column.node, column.name})
	}
	return root
}

// Compression returns the codec of the column in the first row group. It is nil if there is none.
func (c copied) Compression() compress.Codec { return c.codec }

// Fields returns the fields of a struct.
func (c copied) Fields() []parquet.Field { return c.fields }

// Encoding returns the encoding of the column in the first row group. The library takes it from a list that has the
// encodings of levels too, so it may name one that values cannot have.
func (c copied) Encoding() encoding.Encoding {
	if !c.Leaf() {
		return nil
	}
	found := c.Field.Encoding()
	if found == nil || !encodes(found, c.Type().Kind()) {
		return &parquet.Plain
	}
	return found
}

// encodes reports whether the values of a kind can have an encoding.
func encodes(e encoding.Encoding, kind parquet.Kind) bool {
	switch e.Encoding() {
	//lint:ignore SA1019 deprecated for writers, and found in files
	case format.PlainDictionary, format.RLEDictionary:
		return true
	}
	can, isKnown := canEncode[kind]
	return isKnown && can(e)
}

var canEncode = map[parquet.Kind]func(encoding.Encoding) bool{
	parquet.Boolean: encoding.CanEncodeBoolean, parquet.Int32: encoding.CanEncodeInt32, parquet.Int64: encoding.CanEncodeInt64,
	parquet.Int96: encoding.CanEncodeInt96, parquet.Float: encoding.CanEncodeFloat, parquet.Double: encoding.CanEncodeDouble,
	parquet.ByteArray: encoding.CanEncodeByteArray, parquet.FixedLenByteArray: encoding.CanEncodeFixedLenByteArray,
}

// addedField is an added column as a field of the schema.
type addedField struct {
	parquet.Node
	name string
}

// Name returns the name of the column.
func (f addedField) Name() string { return f.name }

// Value is not used: values are written by column, not taken out of a struct.
func (f addedField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
