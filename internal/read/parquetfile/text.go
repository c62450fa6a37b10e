package parquetfile

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// appender appends a value, which is not null, as text.
type appender func([]byte, parquet.Value) []byte

// appenderOf returns how the values of a column become text. It is nil where the bytes of the file are taken.
func appenderOf(leaf *leaf) appender {
	switch t := leaf.logical.(type) {
	case *format.DecimalType:
		return func(b []byte, v parquet.Value) []byte { return appendDecimal(b, v, int(t.Scale)) }
	case *format.DateType:
		return appendDate
	case *format.TimeType:
		unit := unitOf(t.Unit)
		return func(b []byte, v parquet.Value) []byte {
			return instant(whole(v), unit).AppendFormat(b, "15:04:05.999999999")
		}
	case *format.TimestampType:
		unit, layout := unitOf(t.Unit), timestampLayout
		if t.IsAdjustedToUTC {
			layout += "Z"
		}
		return func(b []byte, v parquet.Value) []byte { return instant(whole(v), unit).AppendFormat(b, layout) }
	case *format.IntType:
		if !t.IsSigned {
			return appendUnsigned
		}
	case *format.UUIDType:
		return appendUUID
	case *format.Float16Type:
		if leaf.element.Type.V == format.FixedLenByteArray {
			return appendFloat16
		}
	}
	switch leaf.element.Type.V {
	case format.ByteArray, format.FixedLenByteArray:
		return nil
	}
	return appendPlain
}

const timestampLayout = "2006-01-02T15:04:05.999999999"

// appendPlain appends a value of a column without a logical type.
func appendPlain(b []byte, v parquet.Value) []byte {
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(b, v.Boolean())
	case parquet.Int32:
		return strconv.AppendInt(b, int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case parquet.Int96:
		return appendInt96(b, v)
	case parquet.Float:
		return appendFloat(b, float64(v.Float()), 32)
	case parquet.Double:
		return appendFloat(b, v.Double(), 64)
	default:
		return append(b, v.ByteArray()...)
	}
}

// appendFloat appends a number as JSON writes it: with an exponent only where it is very small or very large.
func appendFloat(b []byte, x float64, bits int) []byte {
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(b, x, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, x, 'f', -1, bits)
}

// appendFloat16 appends a number of 16 bits: a sign, five bits of exponent, ten of the fraction.
func appendFloat16(b []byte, v parquet.Value) []byte {
	raw := v.ByteArray()
	if len(raw) != 2 {
		return append(b, raw...)
	}
	bits := binary.LittleEndian.Uint16(raw)
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	var x float64
	switch {
	case exponent == 0x1f && fraction != 0:
		return append(b, "NaN"...)
	case exponent == 0x1f:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(fraction, -24)
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		x = -x
	}
	return appendFloat(b, x, 32)
}

func appendUnsigned(b []byte, v parquet.Value) []byte {
	if v.Kind() == parquet.Int32 {
		return strconv.AppendUint(b, uint64(v.Uint32()), 10)
	}
	return strconv.AppendUint(b, v.Uint64(), 10)
}

// appendDecimal appends a whole number divided by ten to the power of scale, with all its digits.
func appendDecimal(b []byte, v parquet.Value, scale int) []byte {
	var digits []byte
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		digits = strconv.AppendInt(nil, whole(v), 10)
	default:
		digits = bigEndian(v.ByteArray()).Append(nil, 10)
	}
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

// bigEndian returns the number whose two's complement stands in the bytes, the highest first.
func bigEndian(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(bytes))*8))
	}
	return n
}

// whole returns a value of 32 or 64 bits.
func whole(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unitOf(unit format.TimeUnit) time.Duration {
	if unit.Value == nil {
		return time.Millisecond
	}
	return unit.Value.Duration()
}

// instant returns the time a number of units after the beginning of 1970. A Duration would hold 292 years of them.
func instant(count int64, unit time.Duration) time.Time {
	second := int64(time.Second / unit)
	return time.Unix(count/second, count%second*int64(unit)).UTC()
}

func appendDate(b []byte, v parquet.Value) []byte {
	const day = 24 * 60 * 60
	return time.Unix(whole(v)*day, 0).UTC().AppendFormat(b, time.DateOnly)
}

// appendInt96 appends a time of the kind that old writers make: nanoseconds of a day, and the number of the Julian day.
func appendInt96(b []byte, v parquet.Value) []byte {
	const firstOf1970, day = 2440588, 24 * 60 * 60
	x := v.Int96()
	nanoseconds := int64(uint64(x[1])<<32 | uint64(x[0]))
	return time.Unix((int64(x[2])-firstOf1970)*day, nanoseconds).UTC().AppendFormat(b, timestampLayout)
}

func appendUUID(b []byte, v parquet.Value) []byte {
	raw := v.ByteArray()
	if len(raw) != 16 {
		return append(b, raw...)
	}
	start := 0
	for _, end := range [...]int{4, 6, 8, 10, 16} {
		if start > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, raw[start:end])
		start = end
	}
	return b
}
