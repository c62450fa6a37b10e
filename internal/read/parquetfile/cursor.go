package parquetfile

import (
	"errors"
	"fmt"
	"io"
)

// Cursor reads the rows of a row group in their order. It belongs to one goroutine.
type Cursor struct {
	file    *File
	group   int
	columns []*column
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

// Append appends rows to a buffer, whole ones and at least one: until it has appended the given number of bytes, or to the end of
// the row group. [Rows] takes them out. The error is io.EOF if there are no more rows.
//
// A *RowError says that a row is too long: it is passed over, and reading may go on. A *GroupError says that the rest of the row group is damaged. Rows before the damage have been appended by earlier
// calls. A *PageError says that a page takes more memory than [File.Limit] allows. Any other error is a read that failed. After
// any error but a *RowError there are no more rows.
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

// appendRow appends the next row, or nothing if it cannot be read.
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

// finish returns io.EOF if the columns end with the row group.
func (c *Cursor) finish() error {
	for _, column := range c.columns {
		switch err := column.fill(); {
		case err == nil:
			return c.failure(column, fmt.Errorf("it has more rows than the row group, which has %d", c.file.groups[c.group].Rows))
		case err != io.EOF:
			return c.failure(column, err)
		}
	}
	return io.EOF
}

// failure says what an error of a column means for the row group.
func (c *Cursor) failure(column *column, err error) error {
	if fault := column.storageFault(); fault != nil {
		return fmt.Errorf("read column %s of row group %d: %w", column.path, c.group, fault)
	}
	if page, is := errors.AsType[*PageError](err); is {
		return page
	}
	if err == io.EOF {
		err = errors.New("it has fewer rows than the row group")
	}
	return &GroupError{Group: c.group, First: c.row, Rows: c.end - c.row, Column: column.path, Err: err}
}

// Close gives memory back.
func (c *Cursor) Close() {
	for _, column := range c.columns {
		column.close()
	}
	if c.fault == nil {
		c.fault = errors.New("read rows: the cursor is closed")
	}
}
