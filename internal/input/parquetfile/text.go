package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// text returns a value, which is not null, as text. It may be made in the room.
type text[T parquet.ColumnTypes] func(room []byte, value T) []byte

func textOfInt32(column *schema.Column) text[int32] {
	switch t := column.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return func(b []byte, v int32) []byte { return appendDecimal(b, int64(v), t.Scale()) }
	case schema.DateLogicalType:
		return func(b []byte, v int32) []byte { return AppendDate(b, int64(v)) }
	case schema.TimeLogicalType:
		return func(b []byte, v int32) []byte { return AppendInstant(b, int64(v), time.Millisecond, TimeLayout) }
	case schema.IntLogicalType:
		if !t.IsSigned() {
			return func(b []byte, v int32) []byte { return strconv.AppendUint(b, uint64(uint32(v)), 10) }
		}
	}
	return func(b []byte, v int32) []byte { return strconv.AppendInt(b, int64(v), 10) }
}

func textOfInt64(column *schema.Column) text[int64] {
	switch t := column.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return func(b []byte, v int64) []byte { return appendDecimal(b, v, t.Scale()) }
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

func appendDecimal(b []byte, v int64, scale int32) []byte {
	return AppendDecimal(b, strconv.AppendInt(nil, v, 10), int(scale))
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

// AppendInstant appends the time a number of units after the beginning of 1970. A Duration would hold 292 years of
// them.
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
