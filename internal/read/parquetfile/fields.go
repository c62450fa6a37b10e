package parquetfile

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// Field is a leaf column of a file.
type Field struct {
	// Path is the name of the column, with dots on the way down. See the description of the package.
	Path string
	// Type is its type in plain words, such as string, int64, decimal(10,2) or timestamp.
	Type string
	// Repeated says that a row may have several values: the column is in a list or in a map.
	Repeated bool
}

// leaf is a leaf column as the schema describes it. Its number is its place among the leaves.
type leaf struct {
	Field
	element *format.SchemaElement
	logical format.LogicalTypeValue // nil if it has none
	// whole is the path with all levels.
	whole string
}

// schema walks over the elements of a schema, which stand in the order of a walk from the root down. The library has
// checked the numbers of children.
type schema struct {
	elements []format.SchemaElement
	columns  []*parquet.Column // the leaves to the library
	leaves   []leaf
}

func leavesOf(elements []format.SchemaElement, columns []*parquet.Column) []leaf {
	s := &schema{elements: elements, columns: columns}
	root := s.take()
	for range root.NumChildren.V {
		s.walk(place{}, s.take())
	}
	return s.leaves
}

func (s *schema) take() *format.SchemaElement {
	element := &s.elements[0]
	s.elements = s.elements[1:]
	return element
}

type place struct {
	path, whole []string
	repeated    bool
}

// into returns the place of a child. Its name is part of the path if it means something.
func (p place) into(element *format.SchemaElement, named bool) place {
	child := place{
		path:     p.path,
		whole:    append(p.whole[:len(p.whole):len(p.whole)], element.Name),
		repeated: p.repeated || isRepeated(element),
	}
	if named {
		child.path = append(p.path[:len(p.path):len(p.path)], element.Name)
	}
	return child
}

// walk lists the leaves at and below an element whose name means something.
func (s *schema) walk(parent place, element *format.SchemaElement) {
	s.enter(parent.into(element, true), element)
}

// enter lists the leaves at and below the element of a place.
func (s *schema) enter(here place, element *format.SchemaElement) {
	if element.Type.Valid {
		logical := logicalTypeOf(element, s.columns[len(s.leaves)])
		s.leaves = append(s.leaves, leaf{
			Field:   Field{Path: strings.Join(here.path, "."), Type: typeName(element, logical), Repeated: here.repeated},
			element: element, logical: logical,
			whole: strings.Join(here.whole, "."),
		})
		return
	}
	if wraps(element) && len(s.elements) > 0 {
		s.unwrap(here, element, s.take())
		return
	}
	for range element.NumChildren.V {
		s.walk(here, s.take())
	}
}

// unwrap lists the leaves of a list or a map. Its only child is repeated, and the name of that child means nothing. A
// child of a list with one child of its own, other than one made by old writers, is a level more without a meaning.
func (s *schema) unwrap(list place, element, repeated *format.SchemaElement) {
	inner := list.into(repeated, false)
	isElement := repeated.Type.Valid || repeated.NumChildren.V != 1 || isMap(element) ||
		repeated.Name == "array" || repeated.Name == element.Name+"_tuple"
	if isElement {
		s.enter(inner, repeated)
		return
	}
	only := s.take()
	s.enter(inner.into(only, false), only)
}

// wraps reports whether an element is a list or a map in the form that the format prescribes.
func wraps(element *format.SchemaElement) bool {
	return (isList(element) || isMap(element)) && element.NumChildren.V == 1
}

// isList and isMap go by the logical type of an element, or by the converted type of older files.
func isList(element *format.SchemaElement) bool {
	_, is := element.LogicalType.Value.(*format.ListType)
	return is || isConverted(element, deprecated.List)
}

func isMap(element *format.SchemaElement) bool {
	_, is := element.LogicalType.Value.(*format.MapType)
	return is || isConverted(element, deprecated.Map) || isConverted(element, deprecated.MapKeyValue)
}

func isConverted(element *format.SchemaElement, to deprecated.ConvertedType) bool {
	return element.LogicalType.Value == nil && element.ConvertedType.Valid && element.ConvertedType.V == to
}

func isRepeated(element *format.SchemaElement) bool {
	return element.RepetitionType.Valid && element.RepetitionType.V == format.Repeated
}

// logicalTypeOf returns the logical type of a leaf, also where only the older converted type says it. It is nil if there is
// none.
func logicalTypeOf(element *format.SchemaElement, column *parquet.Column) format.LogicalTypeValue {
	logical := &element.LogicalType
	if logical.Value == nil {
		if logical = column.Type().LogicalType(); logical == nil {
			return nil
		}
	}
	return logical.Value
}

// typeName returns the type of a leaf in plain words.
func typeName(element *format.SchemaElement, logical format.LogicalTypeValue) string {
	switch t := logical.(type) {
	case *format.StringType:
		return "string"
	case *format.IntType:
		if !t.IsSigned {
			return fmt.Sprintf("uint%d", t.BitWidth)
		}
		return fmt.Sprintf("int%d", t.BitWidth)
	case *format.DecimalType:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *format.TimestampType:
		return "timestamp"
	case *format.TimeType:
		return "time"
	case nil:
	default:
		return strings.ToLower(t.String())
	}
	switch element.Type.V {
	case format.Boolean:
		return "boolean"
	case format.Int96:
		return "timestamp"
	case format.ByteArray:
		return "binary"
	case format.FixedLenByteArray:
		return fmt.Sprintf("binary(%d)", element.TypeLength.V)
	default:
		return strings.ToLower(element.Type.V.String())
	}
}

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
