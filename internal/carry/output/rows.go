package output

import (
	"fmt"
	"reflect"

	"mirrorbeam/internal/read/parquetfile"
)

// Rows writes the rows of one output file in any format of [Formats]. It is not for concurrent use.
type Rows[T any] struct {
	file    *Writer
	columns *parquetfile.Writer[T] // nil unless the format is Parquet
	row     T                      // the last one
	line    []byte
}

// table is the rows of an output as a table of Parquet.
type table struct {
	// name is the name of its schema.
	name string
	// without are the fields of the rows that are no columns.
	without []string
}

// NewRows makes a file in the folder dir, under a random name. Pairs have [NewPairRows].
func NewRows[T any](dir string, file File, format Format) (*Rows[T], error) {
	name := reflect.TypeFor[T]().Name()
	if file.Output == Clusters {
		name = "Cluster" // as the first versions called their rows
	}
	return newRows[T](dir, file, format, table{name: name})
}

func newRows[T any](dir string, file File, format Format, of table) (*Rows[T], error) {
	w, err := NewWriter(dir, file, format)
	if err != nil {
		return nil, err
	}
	r := &Rows[T]{file: w}
	if format == Parquet {
		r.columns = parquetfile.NewWriter[T](w, of.name, of.without...)
	}
	return r, nil
}

// Write writes one row. It keeps nothing of it.
func (r *Rows[T]) Write(row T) error {
	if r.columns == nil {
		r.row = row
		r.line = AppendRow(r.line[:0], &r.row)
		return r.file.Row(r.line)
	}
	r.file.Count(1)
	if err := r.columns.Write(row); err != nil {
		return fmt.Errorf("%s: %w", r.file.file.Name, err)
	}
	return nil
}

// Close finishes the file and returns what is in it.
func (r *Rows[T]) Close() (File, error) {
	if r.columns != nil {
		if err := r.columns.Close(); err != nil {
			return File{}, fmt.Errorf("finish %s: %w", r.file.file.Name, err)
		}
	}
	return r.file.Close()
}

// Abort drops a file that is not finished. After Close it does nothing, so it can be deferred.
func (r *Rows[T]) Abort() { r.file.Abort() }
