package parquetfile

import (
	"fmt"
	"strings"

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
	// whole is the path with all levels.
	whole string
}

// schema walks over the elements of a schema, which stand in the order of a walk from the root down. The library has
// checked the numbers of children.
type schema struct {
	elements []format.SchemaElement
	leaves   []leaf
}

// leavesOf lists the leaf columns of a schema.
func leavesOf(elements []format.SchemaElement) []leaf {
	s := &schema{elements: elements}
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
		s.leaves = append(s.leaves, leaf{
			Field:   Field{Path: strings.Join(here.path, "."), Type: typeName(element), Repeated: here.repeated},
			element: element,
			whole:   strings.Join(here.whole, "."),
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

func isList(element *format.SchemaElement) bool {
	_, is := logicalType(element).(*format.ListType)
	return is
}

func isMap(element *format.SchemaElement) bool {
	_, is := logicalType(element).(*format.MapType)
	return is
}

func isRepeated(element *format.SchemaElement) bool {
	return element.RepetitionType.Valid && element.RepetitionType.V == format.Repeated
}

// logicalType returns the logical type of an element, also where only the older converted type says it. It is nil if
// there is none.
func logicalType(element *format.SchemaElement) format.LogicalTypeValue {
	if element.LogicalType.Value != nil {
		return element.LogicalType.Value
	}
	if !element.ConvertedType.Valid {
		return nil
	}
	integer := func(bits int8, signed bool) format.LogicalTypeValue {
		return &format.IntType{BitWidth: bits, IsSigned: signed}
	}
	milliseconds := format.TimeUnit{Value: new(format.MilliSeconds)}
	microseconds := format.TimeUnit{Value: new(format.MicroSeconds)}
	switch element.ConvertedType.V {
	case deprecated.UTF8:
		return new(format.StringType)
	case deprecated.Map, deprecated.MapKeyValue:
		return new(format.MapType)
	case deprecated.List:
		return new(format.ListType)
	case deprecated.Enum:
		return new(format.EnumType)
	case deprecated.Decimal:
		return &format.DecimalType{Scale: element.Scale.V, Precision: element.Precision.V}
	case deprecated.Date:
		return new(format.DateType)
	case deprecated.TimeMillis:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: milliseconds}
	case deprecated.TimeMicros:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: microseconds}
	case deprecated.TimestampMillis:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: milliseconds}
	case deprecated.TimestampMicros:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: microseconds}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return integer(8<<(element.ConvertedType.V-deprecated.Uint8), false)
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return integer(8<<(element.ConvertedType.V-deprecated.Int8), true)
	case deprecated.Json:
		return new(format.JsonType)
	case deprecated.Bson:
		return new(format.BsonType)
	}
	return nil
}

// typeName returns the type of a leaf in plain words.
func typeName(element *format.SchemaElement) string {
	switch t := logicalType(element).(type) {
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
