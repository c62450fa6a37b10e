package parquetfile

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// creator names who wrote a file. It never changes with the program, so that the same rows are the same bytes.
const creator = "mirrorbeam version 1"

const (
	// writeRows and writeBytes bound a row group that is written, and so the memory that writing takes.
	writeRows  = 1 << 16
	writeBytes = 64 << 20
	// writeAtOnce bounds the texts that wait to be written.
	writeAtOnce = 1 << 20
)

// Writer writes rows of results as a Parquet file: zstd, row groups of at most 65,536 rows and some 64 MiB. T is a
// struct with a tag for each column: its name, "dict" for a column with a dictionary, "list" for a list of values or of
// structs. The same rows give the same bytes. It belongs to one goroutine.
type Writer[T any] struct {
	inner *file.Writer
	group file.BufferedRowGroupWriter // nil before the first row
	rows  int                         // of the group
	bytes int                         // of texts that are not yet in the group
	parts []part
	fault error // of the beginning
}

// Table is a table of Parquet that rows of a type make.
type Table struct {
	Name string
	// Without are the fields of the type that are no columns.
	Without []string
	// Integers are columns of whole numbers of 64 bits whose fields are texts of such.
	Integers []string
}

type part struct {
	path  []string
	field []int // of the row
	inner []int // of an element of the list; nil if the column is no list of structs
	rows  buffer
}

type buffer interface {
	// add returns how many bytes a text has.
	add(value reflect.Value, definition, repetition int16) (bytes int, err error)
	flush(file.ColumnChunkWriter) error
}

// NewWriter begins a file.
func NewWriter[T any](out io.Writer, of Table) *Writer[T] {
	w := &Writer[T]{}
	properties := writerProperties()
	var fields schema.FieldList
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, options := tagOf(field)
		if name == "" || slices.Contains(of.Without, field.Name) {
			continue
		}
		if slices.Contains(options, "dict") {
			properties = append(properties, parquet.WithDictionaryFor(name, true))
		}
		if !slices.Contains(options, "list") {
			node, rows := leafOf(name, field.Type, slices.Contains(of.Integers, name))
			fields = append(fields, node)
			w.parts = append(w.parts, part{[]string{name}, field.Index, nil, rows})
			continue
		}
		node := w.list(name, field)
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode(of.Name, parquet.Repetitions.Required, fields, -1)
	if err == nil {
		w.inner, err = file.NewParquetWriterWithError(writeOnly{out}, root,
			file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	}
	if err != nil {
		w.fault = fmt.Errorf("begin a Parquet file: %w", err)
	}
	return w
}

// writeOnly hides that a destination can be closed.
type writeOnly struct{ io.Writer }

// tagOf returns the name and the options in the tag of a field. The name is empty if it is no column.
func tagOf(field reflect.StructField) (name string, options []string) {
	parts := strings.Split(field.Tag.Get("parquet"), ",")
	if parts[0] == "-" {
		return "", nil
	}
	return parts[0], parts[1:]
}

func (w *Writer[T]) list(name string, field reflect.StructField) schema.Node {
	var element schema.Node
	if of := field.Type.Elem(); of.Kind() == reflect.Struct {
		var fields schema.FieldList
		for _, inner := range reflect.VisibleFields(of) {
			if inside, _ := tagOf(inner); inside != "" {
				node, rows := leafOf(inside, inner.Type, false)
				fields = append(fields, node)
				w.parts = append(w.parts, part{[]string{name, inside}, field.Index, inner.Index, rows})
			}
		}
		element = schema.MustGroup(schema.NewGroupNode("element", parquet.Repetitions.Required, fields, -1))
	} else {
		var rows buffer
		element, rows = leafOf("element", of, false)
		w.parts = append(w.parts, part{[]string{name}, field.Index, []int{}, rows})
	}
	return schema.MustGroup(schema.ListOfWithName(name, element, parquet.Repetitions.Required, -1))
}

func leafOf(name string, of reflect.Type, isInteger bool) (schema.Node, buffer) {
	required := parquet.Repetitions.Required
	switch {
	case isInteger:
		return int64Node(name), newBuffer(func(v reflect.Value) (int64, error) {
			return strconv.ParseInt(v.String(), 10, 64)
		})
	case of.Kind() == reflect.Bool:
		return schema.NewBooleanNode(name, required, -1), newBuffer(func(v reflect.Value) (bool, error) {
			return v.Bool(), nil
		})
	case of.Kind() == reflect.Int64:
		return int64Node(name), newBuffer(func(v reflect.Value) (int64, error) { return v.Int(), nil })
	case of.Kind() == reflect.Float64:
		return schema.NewFloat64Node(name, required, -1), newBuffer(func(v reflect.Value) (float64, error) {
			return v.Float(), nil
		})
	}
	return textNode(name, required), newBuffer(func(v reflect.Value) (parquet.ByteArray, error) {
		return parquet.ByteArray(v.String()), nil
	})
}

func int64Node(name string) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required,
		schema.NewIntLogicalType(64, true),
		parquet.Types.Int64, -1, -1))
}

type typedBuffer[T parquet.ColumnTypes] struct {
	of                     func(reflect.Value) (T, error)
	values                 []T
	definition, repetition []int16
}

func newBuffer[T parquet.ColumnTypes](of func(reflect.Value) (T, error)) buffer {
	return &typedBuffer[T]{of: of}
}

// add adds a value; one that is not valid is an empty list.
func (b *typedBuffer[T]) add(value reflect.Value, definition, repetition int16) (bytes int, err error) {
	if value.IsValid() {
		v, err := b.of(value)
		if err != nil {
			return 0, err
		}
		if value.Kind() == reflect.String {
			bytes = value.Len()
		}
		b.values = append(b.values, v)
	}
	b.definition, b.repetition = append(b.definition, definition), append(b.repetition, repetition)
	return bytes, nil
}

func (b *typedBuffer[T]) flush(w file.ColumnChunkWriter) error {
	err := writeValues(w, b.values, b.definition, b.repetition)
	b.values, b.definition, b.repetition = b.values[:0], b.definition[:0], b.repetition[:0]
	return err
}

func (w *Writer[T]) Write(row T) error {
	if w.fault != nil {
		return w.fault
	}
	of := reflect.ValueOf(row)
	for i := range w.parts {
		bytes, err := w.parts[i].add(of)
		if err != nil {
			return fmt.Errorf("write a row: column %s: %w", strings.Join(w.parts[i].path, "."), err)
		}
		w.bytes += bytes
	}
	if w.rows++; w.rows%valuesAtOnce > 0 && w.bytes < writeAtOnce {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.rows >= writeRows || w.group.TotalBytesWritten() >= writeBytes {
		return w.end()
	}
	return nil
}

func (p *part) add(row reflect.Value) (bytes int, err error) {
	value := row.FieldByIndex(p.field)
	if p.inner == nil {
		return p.rows.add(value, 0, 0)
	}
	if value.Len() == 0 {
		return p.rows.add(reflect.Value{}, 0, 0)
	}
	for i := range value.Len() {
		element := value.Index(i)
		if len(p.inner) > 0 {
			element = element.FieldByIndex(p.inner)
		}
		n, err := p.rows.add(element, 1, int16(min(i, 1)))
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	return bytes, nil
}

func (w *Writer[T]) flush() (err error) {
	if w.group == nil {
		if w.group, err = w.inner.AppendBufferedRowGroupChecked(); err != nil {
			return fmt.Errorf("write a row group: %w", err)
		}
	}
	w.bytes = 0
	for i := range w.parts {
		column, err := w.group.Column(i)
		if err == nil {
			err = w.parts[i].rows.flush(column)
		}
		if err != nil {
			return fmt.Errorf("write a row: %w", err)
		}
	}
	return nil
}

func (w *Writer[T]) end() error {
	if err := w.group.Close(); err != nil {
		return fmt.Errorf("write a row group: %w", err)
	}
	w.group, w.rows = nil, 0
	return nil
}

// Close writes the footer. Without it there is no file. The destination stays open.
func (w *Writer[T]) Close() error {
	if w.fault != nil {
		return w.fault
	}
	if w.rows > 0 {
		if err := w.flush(); err != nil {
			return err
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	if err := w.inner.Close(); err != nil {
		return fmt.Errorf("write the footer: %w", err)
	}
	return nil
}
