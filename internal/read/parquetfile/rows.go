package parquetfile

import (
	"encoding/binary"
	"iter"
)

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

// Rows returns the rows of a buffer that [Cursor.Append] has filled from the given number of columns: the number of the row,
// counted from the beginning of the file, and its cells in the order of the columns. The cells are parts of the
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

// Stretches returns where the rows of a buffer are that [Cursor.Append] has filled from the given number of columns: the number of
// each, and its cells for [CutRow].
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
