package parquetfile

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
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

// place is where the walk is.
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
