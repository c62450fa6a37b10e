package parquetfile

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
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
	column *schema.Column
	whole  string
}

func leavesOf(of *schema.Schema) (leaves []leaf, err error) {
	defer recovered(&err) // the library gives up on leaves that say they are lists
	l := &lister{schema: of}
	for i := range of.Root().NumFields() {
		l.walk(place{}, of.Root().Field(i))
	}
	if len(l.leaves) != of.NumColumns() {
		return nil, fmt.Errorf("the schema has %d columns, and lists %d", of.NumColumns(), len(l.leaves))
	}
	return l.leaves, nil
}

type lister struct {
	schema *schema.Schema
	leaves []leaf
}

type place struct {
	path, whole []string
	repeated    bool
}

// into returns the place of a child. Its name is part of the path if it means something.
func (p place) into(node schema.Node, named bool) place {
	child := place{
		path:     p.path,
		whole:    append(p.whole[:len(p.whole):len(p.whole)], node.Name()),
		repeated: p.repeated || node.RepetitionType() == parquet.Repetitions.Repeated,
	}
	if named {
		child.path = append(p.path[:len(p.path):len(p.path)], node.Name())
	}
	return child
}

func (l *lister) walk(parent place, node schema.Node) { l.enter(parent.into(node, true), node) }

func (l *lister) enter(here place, node schema.Node) {
	group, isGroup := node.(*schema.GroupNode)
	switch {
	case !isGroup:
		column := l.schema.Column(len(l.leaves))
		l.leaves = append(l.leaves, leaf{
			Field:  Field{Path: strings.Join(here.path, "."), Type: typeName(column), Repeated: here.repeated},
			column: column,
			whole:  strings.Join(here.whole, "."),
		})
	case (isList(group) || isMap(group)) && group.NumFields() == 1:
		l.unwrap(here, group)
	default:
		for i := range group.NumFields() {
			l.walk(here, group.Field(i))
		}
	}
}

// unwrap lists the leaves of a list or a map. Its only child is repeated, and the name of that child means nothing. A
// child of a list with one child of its own, other than one made by old writers, is a level more without a meaning.
func (l *lister) unwrap(here place, list *schema.GroupNode) {
	repeated := list.Field(0)
	inner := here.into(repeated, false)
	group, isGroup := repeated.(*schema.GroupNode)
	if !isGroup || group.NumFields() != 1 || isMap(list) || repeated.Name() == "array" ||
		repeated.Name() == list.Name()+"_tuple" {
		l.enter(inner, repeated)
		return
	}
	l.enter(inner.into(group.Field(0), false), group.Field(0))
}

// isList and isMap go by the logical type of a node, or by the converted type of older files.
func isList(node schema.Node) bool {
	_, is := node.LogicalType().(schema.ListLogicalType)
	return is || node.ConvertedType() == schema.ConvertedTypes.List
}

func isMap(node schema.Node) bool {
	_, is := node.LogicalType().(schema.MapLogicalType)
	return is || node.ConvertedType() == schema.ConvertedTypes.Map ||
		node.ConvertedType() == schema.ConvertedTypes.MapKeyValue
}

func typeName(column *schema.Column) string {
	switch t := column.LogicalType().(type) {
	case schema.IntLogicalType:
		if !t.IsSigned() {
			return fmt.Sprintf("uint%d", t.BitWidth())
		}
		return fmt.Sprintf("int%d", t.BitWidth())
	case schema.DecimalLogicalType:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
	case schema.TimestampLogicalType:
		return "timestamp"
	case schema.TimeLogicalType:
		return "time"
	case nil, schema.NoLogicalType, schema.UnknownLogicalType:
	default:
		return strings.ToLower(t.String())
	}
	switch column.PhysicalType() {
	case parquet.Types.Int96:
		return "timestamp"
	case parquet.Types.ByteArray:
		return "binary"
	case parquet.Types.FixedLenByteArray:
		return fmt.Sprintf("binary(%d)", column.TypeLength())
	default:
		return strings.ToLower(column.PhysicalType().String())
	}
}
