package output

import (
	"context"
	"fmt"
	"io"
	"iter"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/parquetfile"
)

// Rows writes the rows of one output file in any format of [Formats]. It is not for concurrent use.
type Rows[T Row] struct {
	file    *Writer
	columns *parquetfile.Writer[T] // nil unless the format is Parquet
	line    []byte
}

// NewRows makes a file in the folder dir, under a random name.
func NewRows[T Row](dir string, file File, format Format) (*Rows[T], error) {
	w, err := NewWriter(dir, file, format)
	if err != nil {
		return nil, err
	}
	r := &Rows[T]{file: w}
	if format == Parquet {
		r.columns = parquetfile.NewWriter[T](w)
	}
	return r, nil
}

// Write writes one row. It keeps nothing of it.
func (r *Rows[T]) Write(row T) error {
	if r.columns == nil {
		r.line = row.AppendJSON(r.line[:0])
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

// cellBytes is about how many bytes of rows [Cells] holds.
const cellBytes = 1 << 20

// Cells gives columns of the rows in a Parquet file, in their order. The cells are valid until the next row. An error
// comes last, with nil; so does that of a cancelled context.
func Cells(ctx context.Context, path string, columns ...string) iter.Seq2[[]parquetfile.Cell, error] {
	return func(yield func([]parquetfile.Cell, error) bool) {
		more := true
		err := eachCells(ctx, path, columns, func(cells []parquetfile.Cell) bool {
			more = yield(cells, nil)
			return more
		})
		if err != nil && more {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
		}
	}
}

// eachCells visits the rows of a file until visit returns false.
func eachCells(ctx context.Context, path string, names []string, visit func([]parquetfile.Cell) bool) error {
	handle, err := storage.Open(path)
	if err != nil {
		return err
	}
	defer handle.Close() // a file that was only read
	info, err := handle.Stat()
	if err != nil {
		return err
	}
	file, err := parquetfile.Open(handle, info.Size)
	if err != nil {
		return err
	}
	columns, err := file.Columns(names...)
	if err != nil {
		return err
	}
	for group := range file.Groups() {
		if more, err := groupCells(ctx, columns.Read(group), len(names), visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// groupCells visits the rows of a row group, and reports whether visit wants more.
func groupCells(ctx context.Context, cursor *parquetfile.Cursor, columns int, visit func([]parquetfile.Cell) bool) (more bool, err error) {
	defer cursor.Close()
	var buffer []byte
	for {
		buffer, err = cursor.Append(buffer[:0], cellBytes)
		if err == io.EOF {
			return true, nil
		} else if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		for _, cells := range parquetfile.Rows(buffer, columns) {
			if !visit(cells) {
				return false, nil
			}
		}
	}
}
