package parquetfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
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
}

// NewWriter begins a file whose schema has a name. Fields of T without a column are named last.
func NewWriter[T any](w io.Writer, name string, without ...string) *Writer[T] {
	var options []parquet.WriterOption
	var tags []parquet.SchemaOption
	for _, field := range without {
		tag := parquet.StructTag(`parquet:"-"`, field)
		tags, options = append(tags, tag), append(options, tag.(parquet.WriterOption))
	}
	options = append(options,
		parquet.NewSchema(name, parquet.SchemaOf(new(T), tags...)),
		parquet.CreatedBy(creator, creatorVersion, ""),
		parquet.Compression(&parquet.Zstd),
		parquet.DataPageVersion(1), // which all readers know, as they know plain strings
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain),
		parquet.DataPageStatistics(false),
		parquet.DictionaryMaxBytes(copyDictionary),
		parquet.MaxRowsPerRowGroup(writeRows))
	return &Writer[T]{inner: parquet.NewGenericWriter[T](w, options...)}
}

// Write writes a row.
func (w *Writer[T]) Write(row T) error {
	w.one[0] = row
	if _, err := w.inner.Write(w.one[:]); err != nil {
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

// Close writes the footer. Without it there is no file. The destination stays open.
func (w *Writer[T]) Close() error {
	if err := w.inner.Close(); err != nil {
		return fmt.Errorf("write the footer: %w", err)
	}
	return nil
}
