package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const (
	// valuesAtOnce is how many values are taken out of a page at once, and bytesAtOnce how many bytes, where they are
	// added up in room of their own.
	valuesAtOnce = 256
	bytesAtOnce  = 16 << 20
)

// column reads the values of a column of a row group, whatever their type is.
type column interface {
	// fill makes sure that there is a value. The error is io.EOF at the end of the column.
	fill() error
	// appendCell appends the cell of the next row: the number of its values, and each with its length.
	appendCell([]byte) ([]byte, error)
	// copyTo writes the values that are read but not used, of rows that are kept.
	copyTo(*columnCopy) error
	of() *columnState
	close()
}

type columnState struct {
	path       string
	isRepeated bool
	pages      *pages
	reader     file.ColumnChunkReader
	fault      error // of opening the column, or io.EOF

	definition, repetition [valuesAtOnce]int16
	mostDefinition         int16
	mostRepetition         int16
	at, end                int    // levels that are read but not used
	next                   int    // value that belongs to the level at, if that is not null
	scratch                []byte // for the values of a row
	mostList               int64  // bytes that the values of a row may have
}

type batchReader[T parquet.ColumnTypes] interface {
	ReadBatchInPage(batchSize int64, values []T, definition, repetition []int16) (total int64, read int, err error)
}

type typedColumn[T parquet.ColumnTypes] struct {
	columnState
	read   batchReader[T]
	text   text[T]
	values [valuesAtOnce]T
}

var bufferPool = sync.Pool{New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) }}

// newReader returns the library's reader of a column whose pages come from there.
func newReader(column *schema.Column, from file.PageReader) file.ColumnChunkReader {
	//lint:ignore SA1019 no other way to read pages that were checked
	return file.NewColumnReader(column, from, memory.DefaultAllocator, &bufferPool)
}

// openColumn opens a column of a row group. An error comes from the first fill.
func openColumn(f *File, group, number int) column {
	leaf := &f.leaves[number]
	state := columnState{
		path:           leaf.Path,
		isRepeated:     leaf.Repeated,
		mostList:       f.mostList(),
		mostDefinition: leaf.column.MaxDefinitionLevel(),
		mostRepetition: leaf.column.MaxRepetitionLevel(),
	}
	if state.pages, state.fault = openPages(f, group, number); state.fault == nil {
		state.reader = newReader(leaf.column, state.pages)
	}
	switch leaf.column.PhysicalType() {
	case parquet.Types.Boolean:
		return typed(state, func(b []byte, v bool) []byte { return strconv.AppendBool(b, v) })
	case parquet.Types.Int32:
		return typed(state, textOfInt32(leaf.column))
	case parquet.Types.Int64:
		return typed(state, textOfInt64(leaf.column))
	case parquet.Types.Int96:
		return typed(state, textOfInt96)
	case parquet.Types.Float:
		return typed(state, func(b []byte, v float32) []byte { return AppendFloat(b, float64(v), 32) })
	case parquet.Types.Double:
		return typed(state, func(b []byte, v float64) []byte { return AppendFloat(b, v, 64) })
	case parquet.Types.FixedLenByteArray:
		return typed(state, textOfBytes[parquet.FixedLenByteArray](leaf.column))
	}
	return typed(state, textOfBytes[parquet.ByteArray](leaf.column))
}

func typed[T parquet.ColumnTypes](state columnState, t text[T]) column {
	c := &typedColumn[T]{columnState: state, text: t}
	if state.fault == nil {
		c.read = state.reader.(batchReader[T])
	}
	return c
}

func (c *columnState) of() *columnState { return c }

func (c *typedColumn[T]) fill() error {
	for c.at == c.end {
		if c.fault == nil {
			c.fault = c.take()
		}
		if c.fault != nil {
			return c.fault
		}
	}
	return nil
}

// take takes values out of the page, or out of the next one. The error is io.EOF if there are no more.
func (c *typedColumn[T]) take() (err error) {
	defer recovered(&err)
	c.at, c.end, c.next = 0, 0, 0
	if !c.reader.HasNext() {
		if err := c.reader.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	wanted := int64(valuesAtOnce)
	if large := c.pages.large; large > 0 {
		wanted = min(wanted, 1+int64(bytesAtOnce/large))
	}
	n, read, err := c.read.ReadBatchInPage(wanted, c.values[:], c.definition[:], c.repetition[:])
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("a page ends too early")
	}
	return c.taken(int(n), read)
}

func (c *columnState) taken(n, read int) error {
	if c.mostDefinition > 0 {
		there := 0
		for _, level := range c.definition[:n] {
			if level == c.mostDefinition {
				there++
			} else if level > c.mostDefinition {
				return errors.New("a value is nested deeper than its column")
			}
		}
		if there != read {
			return fmt.Errorf("a page has %d values, and %d are wanted", read, there)
		}
	}
	if c.mostRepetition > 0 {
		for _, level := range c.repetition[:n] {
			if level > c.mostRepetition {
				return errors.New("a value is nested deeper than its column")
			}
		}
	}
	c.end = n
	return nil
}

// isNull reports whether the next value is null, or an empty list.
func (c *columnState) isNull() bool {
	return c.mostDefinition > 0 && c.definition[c.at] < c.mostDefinition
}

// begins reports whether the next value is the first one of a row.
func (c *columnState) begins() bool { return c.mostRepetition == 0 || c.repetition[c.at] == 0 }

func (c *typedColumn[T]) appendCell(b []byte) ([]byte, error) {
	if c.isRepeated {
		return c.appendList(b)
	}
	if c.at == c.end {
		if err := c.fill(); err != nil {
			return b, err
		}
	}
	if c.isNull() {
		c.at++
		return append(b, 0), nil
	}
	return c.appendValue(append(b, 1)), nil
}

// appendList appends the values of a row that are not null. The row ends where a value of repetition level 0 begins
// the next one, maybe in the next page.
func (c *typedColumn[T]) appendList(b []byte) ([]byte, error) {
	count, list, long := int64(0), c.scratch[:0], int64(0)
	for isFirst := true; ; isFirst = false {
		if err := c.fill(); err == io.EOF && !isFirst {
			break
		} else if err != nil {
			return b, err
		}
		begins := c.begins()
		if begins && !isFirst {
			break
		}
		if !begins && isFirst {
			return b, errors.New("the first row begins in the middle")
		}
		if c.isNull() {
			c.at++
		} else {
			list = c.appendValue(list)
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

func (c *typedColumn[T]) appendValue(b []byte) []byte {
	var room [64]byte
	content := c.text(room[:0], c.values[c.next])
	c.at, c.next = c.at+1, c.next+1
	return append(appendNumber(b, int64(len(content))), content...)
}

func (c *columnState) close() {
	c.at, c.end = 0, 0
	if c.pages != nil {
		c.pages.Close() // has no error
		c.pages, c.fault = nil, errors.New("the column is closed")
	}
}

func appendNumber(b []byte, n int64) []byte { return binary.AppendUvarint(b, uint64(n)) }

// text returns a value, which is not null, as text. It may be made in the room.
type text[T parquet.ColumnTypes] func(room []byte, value T) []byte

func textOfInt32(column *schema.Column) text[int32] {
	wide := textOfInt64(column)
	if t, is := column.LogicalType().(schema.IntLogicalType); is && !t.IsSigned() {
		return func(b []byte, v int32) []byte { return wide(b, int64(uint32(v))) }
	}
	return func(b []byte, v int32) []byte { return wide(b, int64(v)) }
}

func textOfInt64(column *schema.Column) text[int64] {
	switch t := column.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return func(b []byte, v int64) []byte {
			return AppendDecimal(b, strconv.AppendInt(nil, v, 10), int(t.Scale()))
		}
	case schema.DateLogicalType:
		return AppendDate
	case schema.TimeLogicalType:
		unit := unitOf(t.TimeUnit())
		return func(b []byte, v int64) []byte { return AppendInstant(b, v, unit, TimeLayout) }
	case schema.TimestampLogicalType:
		unit, layout := unitOf(t.TimeUnit()), TimestampLayout
		if t.IsAdjustedToUTC() {
			layout += "Z"
		}
		return func(b []byte, v int64) []byte { return AppendInstant(b, v, unit, layout) }
	case schema.IntLogicalType:
		if !t.IsSigned() {
			return func(b []byte, v int64) []byte { return strconv.AppendUint(b, uint64(v), 10) }
		}
	}
	return func(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }
}

// textOfBytes is for binary values, with any length or a fixed one.
func textOfBytes[T parquet.ByteArray | parquet.FixedLenByteArray](column *schema.Column) text[T] {
	switch t := column.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return func(b []byte, v T) []byte { return AppendDecimal(b, bigEndian(v).Append(nil, 10), int(t.Scale())) }
	case schema.UUIDLogicalType:
		return func(b []byte, v T) []byte { return AppendUUID(b, v) }
	case schema.Float16LogicalType:
		return func(b []byte, v T) []byte {
			if len(v) != 2 {
				return v
			}
			return AppendFloat(b, float64(float16.FromLEBytes(v).Float32()), 32)
		}
	}
	return func(_ []byte, v T) []byte { return v }
}

const (
	TimeLayout      = "15:04:05.999999999"
	TimestampLayout = "2006-01-02T15:04:05.999999999"
)

// AppendFloat appends a number as JSON writes it: with an exponent only where it is very small or very large. A whole
// number ends in .0, so that one who joins by ids sees that they are no whole numbers.
func AppendFloat(b []byte, x float64, bits int) []byte {
	format, begin := byte('f'), len(b)
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, bits)
	if format == 'f' && x == math.Trunc(x) && !math.IsInf(x, 0) && !slices.Contains(b[begin:], '.') {
		b = append(b, ".0"...)
	}
	return b
}

// AppendDecimal appends the whole number with these digits, divided by ten to the power of scale, with all its digits.
func AppendDecimal(b, digits []byte, scale int) []byte {
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	// A scale beyond all digits that a decimal can have is a lie; the zeros of it are not worth writing.
	const mostScale = 1 << 10
	if scale <= 0 || scale > mostScale {
		return append(b, digits...)
	}
	for range scale + 1 - len(digits) {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - scale
	b = append(b, digits[:point]...)
	b = append(b, '.')
	return append(b, digits[point:]...)
}

// bigEndian returns the number whose two's complement is in the bytes, the highest first.
func bigEndian(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(bytes))*8))
	}
	return n
}

func unitOf(unit schema.TimeUnitType) time.Duration {
	switch unit {
	case schema.TimeUnitMicros:
		return time.Microsecond
	case schema.TimeUnitNanos:
		return time.Nanosecond
	}
	return time.Millisecond
}

// AppendInstant appends the time a number of units after the beginning of 1970. A Duration holds only 292 years.
func AppendInstant(b []byte, count int64, unit time.Duration, layout string) []byte {
	second := int64(time.Second / unit)
	return time.Unix(count/second, count%second*int64(unit)).UTC().AppendFormat(b, layout)
}

// AppendDate appends the day that is that many days after the first one of 1970.
func AppendDate(b []byte, days int64) []byte {
	const day = 24 * 60 * 60
	return time.Unix(days*day, 0).UTC().AppendFormat(b, time.DateOnly)
}

// textOfInt96 is for times of the kind that old writers make: nanoseconds of a day, and the number of the Julian day.
func textOfInt96(b []byte, v parquet.Int96) []byte {
	const firstOf1970, day = 2440588, 24 * 60 * 60
	nanoseconds, days := int64(binary.LittleEndian.Uint64(v[:])), int64(binary.LittleEndian.Uint32(v[8:]))
	return time.Unix((days-firstOf1970)*day, nanoseconds).UTC().AppendFormat(b, TimestampLayout)
}

// AppendUUID appends 16 bytes in the form that UUIDs have.
func AppendUUID(b, raw []byte) []byte {
	if len(raw) != 16 {
		return append(b, raw...)
	}
	return fmt.Appendf(b, "%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}
