package parquetfile

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// valuesAtOnce is how many values are taken out of a page at once.
const valuesAtOnce = 256

type column struct {
	path     string
	repeated bool
	text     appender // nil where the bytes of the file are taken
	pages    *pages
	page     parquet.Page        // nil if its values are plain
	reader   parquet.ValueReader // of the page; nil between two
	fault    error               // of opening the column

	values  [valuesAtOnce]parquet.Value
	at, end int    // values that are read but not used
	scratch []byte // for a value as text, or the values of a row

	mostList int64 // bytes that the values of a row may have
}

// openColumn opens a column of a row group. An error comes from the first fill.
func openColumn(f *File, group, number int) *column {
	leaf := &f.leaves[number]
	c := &column{path: leaf.Path, repeated: leaf.Repeated, text: appenderOf(leaf), mostList: f.mostList()}
	c.pages, c.fault = openPages(f, group, number)
	return c
}

// fill makes sure that there is a value. The error is io.EOF at the end of the column.
func (c *column) fill() error {
	for c.at == c.end {
		if c.fault != nil {
			return c.fault
		}
		if c.reader == nil {
			c.fault = c.open()
			continue
		}
		if err := c.take(); err == io.EOF {
			c.release()
		} else {
			c.fault = err
		}
	}
	return nil
}

// open begins with the values of the next page.
func (c *column) open() (err error) {
	page, plain, err := c.pages.read()
	if err != nil {
		return err
	}
	defer recovered(&err)
	if c.page = page; page != nil {
		c.reader = page.Values()
	} else {
		c.reader = plain
	}
	return nil
}

// take takes values out of the page. The error is io.EOF if it has no more.
func (c *column) take() (err error) {
	defer recovered(&err)
	c.at, c.end = 0, 0
	n, err := c.reader.ReadValues(c.values[:])
	c.end = n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return errors.New("a page gives no values")
	}
	return err
}

// appendCell appends the cell of the next row: the number of its values, and each with its length.
func (c *column) appendCell(b []byte) ([]byte, error) {
	if c.repeated {
		return c.appendList(b)
	}
	if c.at == c.end {
		if err := c.fill(); err != nil {
			return b, err
		}
	}
	value := c.values[c.at]
	c.at++
	if value.IsNull() {
		return append(b, 0), nil
	}
	return c.appendValue(append(b, 1), value), nil
}

// appendList appends the values of a row that are not null. The row ends where a value of repetition level 0 begins
// the next one, maybe in the next page.
func (c *column) appendList(b []byte) ([]byte, error) {
	count, list, long := int64(0), c.scratch[:0], int64(0)
	for isFirst := true; ; isFirst = false {
		if err := c.fill(); err == io.EOF && !isFirst {
			break
		} else if err != nil {
			return b, err
		}
		value := c.values[c.at]
		begins := value.RepetitionLevel() == 0
		if begins && !isFirst {
			break
		}
		if !begins && isFirst {
			return b, errors.New("the first row begins in the middle")
		}
		c.at++
		if !value.IsNull() {
			list = c.appendValue(list, value)
			count++
		}
		if int64(len(list)) > c.mostList {
			long, list = long+int64(len(list)), list[:0]
		}
	}
	c.scratch = list
	if long += int64(len(list)); long > c.mostList {
		return b, &RowError{Bytes: long, Limit: c.mostList}
	}
	return append(appendNumber(b, count), list...), nil
}

// appendValue appends the length of a value, and the value.
func (c *column) appendValue(b []byte, value parquet.Value) []byte {
	if c.text == nil {
		content := value.ByteArray()
		return append(appendNumber(b, int64(len(content))), content...)
	}
	var room [64]byte
	content := c.text(room[:0], value)
	return append(appendNumber(b, int64(len(content))), content...)
}

func (c *column) release() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.reader = nil, nil
}

// storageFault returns the error of the storage, if a read has failed.
func (c *column) storageFault() error {
	if c.pages == nil {
		return nil
	}
	return c.pages.chunk.fault
}

func (c *column) close() {
	c.release()
	c.at, c.end = 0, 0
	if c.pages != nil {
		c.pages.close()
		c.pages, c.fault = nil, errors.New("the column is closed")
	}
}

func appendNumber(b []byte, n int64) []byte { return binary.AppendUvarint(b, uint64(n)) }
