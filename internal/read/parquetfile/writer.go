package parquetfile

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// creator and creatorVersion stand in the files that this package writes. They never change with the program, so
	// that the same rows are the same bytes.
	creator        = "mirrorbeam"
	creatorVersion = "1"
)

const (
	// writeRows and writeBytes bound a row group that is written, and so the memory that writing takes.
	writeRows  = 1 << 16
	writeBytes = 64 << 20
)

// Writer writes rows of results as a Parquet file: zstd, row groups of at most 65,536 rows and some 64 MiB. T is a
// struct with a tag for each column. The same rows give the same bytes. It belongs to one goroutine.
type Writer[T any] struct {
	inner   *parquet.GenericWriter[T]
	one     [1]T
	flushed int64 // bytes in row groups that are written

	// Where texts are written as whole numbers, rows goes through own, its columns as T has them.
	own      *parquet.Schema // nil if all columns are as T has them
	integers []bool          // which columns are whole numbers, in place of texts
	rows     [1]parquet.Row
}

// Table is a table of Parquet that rows of a type make.
type Table struct {
	// Name is the name of its schema.
	Name string
	// Without are the fields of the type that are no columns.
	Without []string
	// Integers are columns of whole numbers of 64 bits whose fields are texts of such.
	Integers []string
}

// NewWriter begins a file.
func NewWriter[T any](out io.Writer, of Table) *Writer[T] {
	var options []parquet.WriterOption
	var tags []parquet.SchemaOption
	for _, field := range of.Without {
		tag := parquet.StructTag(`parquet:"-"`, field)
		tags, options = append(tags, tag), append(options, tag.(parquet.WriterOption))
	}
	w := &Writer[T]{}
	var schema parquet.Node = parquet.SchemaOf(new(T), tags...)
	if len(of.Integers) > 0 {
		w.own = parquet.NewSchema(of.Name, schema)
		schema = withIntegers(schema, of.Integers)
		for _, path := range w.own.Columns() {
			w.integers = append(w.integers, len(path) == 1 && slices.Contains(of.Integers, path[0]))
		}
	}
	options = append(options,
		parquet.NewSchema(of.Name, schema),
		parquet.CreatedBy(creator, creatorVersion, ""),
		parquet.Compression(&parquet.Zstd),
		parquet.DataPageVersion(1), // which all readers know, as they know plain strings
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain),
		parquet.DataPageStatistics(false),
		parquet.DictionaryMaxBytes(copyDictionary),
		parquet.MaxRowsPerRowGroup(writeRows))
	w.inner = parquet.NewGenericWriter[T](out, options...)
	return w
}

// Write writes a row.
func (w *Writer[T]) Write(row T) error {
	w.one[0] = row
	if err := w.write(); err != nil {
		return fmt.Errorf("write a row: %w", err)
	}
	if w.inner.Size()-w.flushed < writeBytes {
		return nil
	}
	if err := w.inner.Flush(); err != nil {
		return fmt.Errorf("write a row group: %w", err)
	}
	w.flushed = w.inner.Size()
	return nil
}

// write writes the row at hand.
func (w *Writer[T]) write() error {
	if w.own == nil {
		_, err := w.inner.Write(w.one[:])
		return err
	}
	values := w.own.Deconstruct(w.rows[0][:0], &w.one[0])
	for i, value := range values {
		if column := value.Column(); w.integers[column] {
			n, err := strconv.ParseInt(string(value.ByteArray()), 10, 64)
			if err != nil {
				return fmt.Errorf("column %s: %w", w.own.Columns()[column][0], err)
			}
			values[i] = parquet.Int64Value(n).Level(0, 0, column)
		}
	}
	w.rows[0] = values
	_, err := w.inner.WriteRows(w.rows[:])
	return err
}

// root is a schema with other fields.
type root struct {
	parquet.Node
	fields []parquet.Field
}

// Fields returns the columns at the top.
func (r root) Fields() []parquet.Field { return r.fields }

// withIntegers returns a schema with whole numbers in some columns at its top. They keep their encodings.
func withIntegers(schema parquet.Node, columns []string) parquet.Node {
	changed := root{Node: schema}
	for _, field := range schema.Fields() {
		if slices.Contains(columns, field.Name()) {
			node := parquet.Int(64)
			if encoding := field.Encoding(); encoding != nil && encoding.Encoding() == format.RLEDictionary {
				node = parquet.Encoded(node, encoding)
			}
			field = addedField{node, field.Name()}
		}
		changed.fields = append(changed.fields, field)
	}
	return changed
}

// Close writes the footer. Without it there is no file. The destination stays open.
func (w *Writer[T]) Close() error {
	if err := w.inner.Close(); err != nil {
		return fmt.Errorf("write the footer: %w", err)
	}
	return nil
}
