package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Cursor reads the rows of a row group in their order. It belongs to one goroutine.
type Cursor struct {
	file    *File
	group   int
	columns []column
	row     int64 // the next one, counted from the beginning of the file
	end     int64
	fault   error
	long    *RowError // a row that was passed over, which the next Append tells
}

// Read begins to read a row group, which is the one of that number in [File.Groups]. Close must be called in the end.
func (c Columns) Read(group int) *Cursor {
	g := c.file.groups[group]
	cursor := &Cursor{file: c.file, group: group, row: g.First, end: g.First + g.Rows}
	for _, number := range c.numbers {
		cursor.columns = append(cursor.columns, openColumn(c.file, group, number))
	}
	return cursor
}

// Append appends rows to a buffer, whole ones and at least one: until it has appended the given number of bytes, or to
// the end of the row group. [Rows] takes them out. The error is io.EOF if there are no more rows.
//
// A *RowError says that a row is too long: it is passed over, and reading may go on. A *GroupError says that the rest
// of the row group is damaged. Rows before the damage have been appended by earlier calls. A *PageError says that a
// page takes more memory than [File.Limit] allows. Any other error is a read that failed. After any error but a
// *RowError there are no more rows.
func (c *Cursor) Append(buffer []byte, atLeast int) ([]byte, error) {
	begin := len(buffer)
	for c.fault == nil && c.long == nil && (len(buffer) == begin || len(buffer)-begin < atLeast) {
		if c.row == c.end {
			c.fault = c.finish()
			break
		}
		buffer, c.fault = c.appendRow(buffer)
	}
	if len(buffer) > begin {
		return buffer, nil
	}
	if long := c.long; long != nil {
		c.long = nil
		return buffer, long
	}
	return buffer, c.fault
}

func (c *Cursor) appendRow(buffer []byte) ([]byte, error) {
	row, err := appendNumber(buffer, c.row), error(nil)
	for _, column := range c.columns {
		row, err = column.appendCell(row)
		if long, isLong := errors.AsType[*RowError](err); isLong {
			long.Row, c.long = c.row, long
		} else if err != nil {
			return buffer, c.failure(column, err)
		}
	}
	c.row++
	if c.long != nil {
		return buffer, nil
	}
	return row, nil
}

func (c *Cursor) finish() error {
	for _, column := range c.columns {
		switch err := column.fill(); {
		case err == nil:
			return c.failure(column,
				fmt.Errorf("it has more rows than the row group, which has %d", c.file.groups[c.group].Rows))
		case err != io.EOF:
			return c.failure(column, err)
		}
	}
	return io.EOF
}

func (c *Cursor) failure(of column, err error) error {
	column := of.of()
	if column.pages != nil && column.pages.chunk.fault != nil {
		return fmt.Errorf("read column %s of row group %d: %w", column.path, c.group, column.pages.chunk.fault)
	}
	if page, is := errors.AsType[*PageError](err); is {
		return page
	}
	if err == io.EOF {
		err = errors.New("it has fewer rows than the row group")
	}
	return &GroupError{Group: c.group, First: c.row, Rows: c.end - c.row, Column: column.path, Err: err}
}

func (c *Cursor) Close() {
	for _, column := range c.columns {
		column.close()
	}
	if c.fault == nil {
		c.fault = errors.New("read rows: the cursor is closed")
	}
}

// Cell is the content of a column in a row.
type Cell struct {
	count  int
	values []byte // each with its length before it
}

// Len returns the number of values: 0 for a null and for a list without elements.
func (c Cell) Len() int { return c.count }

// Value returns the first value. It is false if there is none; an empty value is one.
func (c Cell) Value() ([]byte, bool) {
	for value := range c.All() {
		return value, true
	}
	return nil, false
}

// All returns the values in their order. They are parts of the buffer.
func (c Cell) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := c.values
		for range c.count {
			var value []byte
			value, rest = takeBytes(rest)
			if !yield(value) {
				return
			}
		}
	}
}

// Rows returns the rows of a buffer that [Cursor.Append] has filled from the given number of columns: the number of the
// row, counted from the beginning of the file, and its cells in the order of the columns. The cells are parts of the
// buffer. The slice of cells is used again for the next row.
func Rows(buffer []byte, columns int) iter.Seq2[int64, []Cell] {
	return func(yield func(int64, []Cell) bool) {
		var cells []Cell
		for number, row := range Stretches(buffer, columns) {
			if cells = CutRow(cells[:0], buffer[row.Start:row.End]); !yield(number, cells) {
				return
			}
		}
	}
}

// Stretch is where the cells of a row are in a buffer.
type Stretch struct{ Start, End int }

// Stretches returns where the rows of a buffer are that [Cursor.Append] has filled from the given number of columns:
// the number of each, and its cells for [CutRow].
func Stretches(buffer []byte, columns int) iter.Seq2[int64, Stretch] {
	return func(yield func(int64, Stretch) bool) {
		for rest := buffer; len(rest) > 0; {
			var number uint64
			number, rest = takeNumber(rest)
			start := len(buffer) - len(rest)
			for range columns {
				_, rest = takeCell(rest)
			}
			if !yield(int64(number), Stretch{start, len(buffer) - len(rest)}) {
				return
			}
		}
	}
}

// CutRow appends the cells of a row.
func CutRow(cells []Cell, row []byte) []Cell {
	for len(row) > 0 {
		var cell Cell
		cell, row = takeCell(row)
		cells = append(cells, cell)
	}
	return cells
}

func takeCell(b []byte) (Cell, []byte) {
	count, rest := takeNumber(b)
	begin := rest
	for range count {
		_, rest = takeBytes(rest)
	}
	return Cell{count: int(count), values: begin[:len(begin)-len(rest)]}, rest
}

func takeBytes(b []byte) (value, rest []byte) {
	length, rest := takeNumber(b)
	return rest[:length:length], rest[length:]
}

func takeNumber(b []byte) (uint64, []byte) {
	n, length := binary.Uvarint(b)
	return n, b[length:]
}
