package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"mirrorbeam/internal/read/parquetfile"
)

// errBuffer says that a buffer is not what the metadata says.
var errBuffer = errors.New("its content is damaged")

// values are the values of a field in a batch.
type values struct {
	field      *field
	rows       int64
	validity   []byte // nil: all are there
	offsets    []byte // of texts and lists
	data       []byte
	further    [][]byte // of views
	elements   *values  // of a list
	dictionary *values  // data are indexes in it
	before     *values  // the earlier part of a dictionary
	depth      int
	held       int64 // bytes of memory that a dictionary takes, with its earlier parts
}

// offsetBytes returns the width of the offsets of a field, 0 if it has none.
func (f *field) offsetBytes() int64 {
	switch f.kind {
	case isText, isBinary, isList:
		return 4
	case isLargeText, isLargeBinary, isLargeList:
		return 8
	}
	return 0
}

// offset returns where the values of a row begin.
func (v *values) offset(row int64) int64 {
	if v.field.offsetBytes() == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v.offsets[4*row:])))
	}
	return int64(binary.LittleEndian.Uint64(v.offsets[8*row:]))
}

// isThere reports whether a row has a value.
func (v *values) isThere(row int64) bool {
	return v.field.kind != isNull && (len(v.validity) == 0 || v.validity[row/8]>>(row%8)&1 == 1)
}

// stretch returns where the bytes of a text begin and end, or the elements of a list.
func (v *values) stretch(row, most int64) (from, to int64, err error) {
	if v.field.kind == isFixedList {
		return row * int64(v.field.size), (row + 1) * int64(v.field.size), nil
	}
	from, to = v.offset(row), v.offset(row+1)
	if from < 0 || from > to || to > most {
		return 0, 0, errBuffer
	}
	return from, to, nil
}

// appendCell appends the values of a row to b, as a row of package parquetfile has them: their number, and each with its length before it. A list
// of more than most bytes is a *[parquetfile.RowError]: few of a file may stand for very many, by a dictionary.
func (v *values) appendCell(b []byte, row, most int64) ([]byte, error) {
	if !v.isThere(row) {
		return append(b, 0), nil
	}
	from, to, of := row, row+1, v
	if v.field.isList() {
		var err error
		if from, to, err = v.stretch(row, v.elements.rows); err != nil {
			return b, err
		}
		of = v.elements
	}
	count := 0
	for i := from; i < to; i++ {
		if of.isThere(i) {
			count++
		}
	}
	b = binary.AppendUvarint(b, uint64(count))
	begin := len(b)
	var scratch [40]byte
	for i := from; i < to; i++ {
		if !of.isThere(i) {
			continue
		}
		value, err := of.value(scratch[:0], i)
		if err != nil {
			return b, err
		}
		if length := int64(len(b)-begin) + int64(len(value)); v.field.isList() && length > most {
			return b, &parquetfile.RowError{Bytes: length, Limit: most}
		}
		b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	}
	return b, nil
}

// value returns the value of a row as a text, which may be appended to scratch.
func (v *values) value(scratch []byte, row int64) ([]byte, error) {
	if v.field.dictionary != noDictionary {
		return v.looked(scratch, number(v.data, v.field.indexBits, row, v.field.unsignedIndex))
	}
	switch f := v.field; f.kind {
	case isText, isBinary, isLargeText, isLargeBinary:
		from, to, err := v.stretch(row, int64(len(v.data)))
		if err != nil {
			return nil, err
		}
		return v.data[from:to], nil
	case isTextView, isBinaryView:
		return v.viewed(v.data[16*row:][:16])
	case isBool:
		return strconv.AppendBool(scratch, v.data[row/8]>>(row%8)&1 == 1), nil
	case isFloat:
		return appendFloat(scratch, v.data, f.bits, row), nil
	case isDate:
		seconds := number(v.data, f.bits, row, false)
		if f.unit == 1 {
			return time.UnixMilli(seconds).UTC().AppendFormat(scratch, time.DateOnly), nil
		}
		return time.Unix(seconds*24*60*60, 0).UTC().AppendFormat(scratch, time.DateOnly), nil
	case isTimestamp:
		scratch = appendTime(scratch, number(v.data, 64, row, false), f.unit)
		if f.isZoned {
			scratch = append(scratch, 'Z')
		}
		return scratch, nil
	case isInt:
		n := number(v.data, f.bits, row, f.unsigned)
		if f.unsigned {
			return strconv.AppendUint(scratch, uint64(n), 10), nil
		}
		return strconv.AppendInt(scratch, n, 10), nil
	}
	return nil, errMetadata
}

// looked returns the value of a dictionary.
func (v *values) looked(scratch []byte, index int64) ([]byte, error) {
	in := v.dictionary
	if index < 0 || index >= in.rows {
		return nil, errBuffer
	}
	for in.before != nil && index < in.before.rows {
		in = in.before
	}
	if in.before != nil {
		index -= in.before.rows
	}
	if !in.isThere(index) {
		return nil, nil
	}
	return in.value(scratch, index)
}

// viewed returns the text of a view: itself if it is short, else a stretch of another buffer.
func (v *values) viewed(view []byte) ([]byte, error) {
	const short = 12
	length := int64(binary.LittleEndian.Uint32(view))
	if length <= short {
		return view[4 : 4+length], nil
	}
	number, from := int64(binary.LittleEndian.Uint32(view[8:])), int64(binary.LittleEndian.Uint32(view[12:]))
	if number >= int64(len(v.further)) || from+length > int64(len(v.further[number])) {
		return nil, errBuffer
	}
	return v.further[number][from : from+length], nil
}

// number returns a whole number of a column.
func number(data []byte, bits int, row int64, unsigned bool) int64 {
	switch bits {
	case 8:
		if unsigned {
			return int64(data[row])
		}
		return int64(int8(data[row]))
	case 16:
		n := binary.LittleEndian.Uint16(data[2*row:])
		if unsigned {
			return int64(n)
		}
		return int64(int16(n))
	case 32:
		n := binary.LittleEndian.Uint32(data[4*row:])
		if unsigned {
			return int64(n)
		}
		return int64(int32(n))
	}
	return int64(binary.LittleEndian.Uint64(data[8*row:]))
}

func appendFloat(b, data []byte, bits int, row int64) []byte {
	x := 0.
	if bits == 32 {
		x = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*row:])))
	} else {
		x = math.Float64frombits(binary.LittleEndian.Uint64(data[8*row:]))
	}
	format := byte('f')
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, x, format, -1, bits)
}

// appendTime appends a time that is given in seconds, or in a thousandth to the power of unit of them.
func appendTime(b []byte, n int64, unit int) []byte {
	perSecond := []int64{1, 1e3, 1e6, 1e9}[unit]
	seconds, rest := n/perSecond, n%perSecond
	if rest < 0 {
		seconds, rest = seconds-1, rest+perSecond
	}
	return time.Unix(seconds, rest*(1e9/perSecond)).UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999")
}

// Values are the wanted columns of a batch.
type Values struct {
	columns  [][]*values // each with the structs around it
	first    int64
	rows     int64
	mostList int64 // bytes that the values of a list may have
}

// Values reads columns of the batch. A *[BatchError] says that they take too much memory. An error about the content, see [IsDamage], leaves the
// next batch to be read.
func (r *Reader) Values(columns []Column) (*Values, error) {
	b, err := r.open(r.batch.header, r.body, r.batch.body)
	if err == nil {
		err = b.place(r.fields)
	}
	if err != nil {
		return nil, err
	}
	read := &Values{first: r.FirstRow, rows: r.Rows, mostList: math.MaxInt64}
	if r.limit > 0 {
		read.mostList = r.limit / 3 // they are there twice, and once more while they grow
	}
	for _, c := range columns {
		var chain []*values
		for _, f := range append(slices.Clone(c.structs), c.leaf) {
			v, err := b.values(f, r.Rows)
			if err != nil {
				return nil, fmt.Errorf("column %.64q: %w", c.leaf.name, err)
			}
			chain = append(chain, v)
		}
		read.columns = append(read.columns, chain)
	}
	return read, nil
}

// Append appends rows from one of that number in the batch on to a buffer, until it has appended that number of bytes or all. Package parquetfile takes
// them apart. It returns the number of the row that comes next. A *[parquetfile.RowError] says that this row is too long, and that the one after it
// can be read.
func (v *Values) Append(buffer []byte, row int64, atLeast int) ([]byte, int64, error) {
	for begin := len(buffer); row < v.rows && len(buffer)-begin < atLeast; row++ {
		next := binary.AppendUvarint(buffer, uint64(v.first+row))
		for _, chain := range v.columns {
			var err error
			next, err = appendChain(next, chain, row, v.mostList)
			if long, isLong := errors.AsType[*parquetfile.RowError](err); isLong {
				long.Row = v.first + row
			}
			if err != nil {
				return buffer, row, err
			}
		}
		buffer = next
	}
	return buffer, row, nil
}

func appendChain(b []byte, chain []*values, row, most int64) ([]byte, error) {
	for _, around := range chain[:len(chain)-1] {
		if !around.isThere(row) {
			return append(b, 0), nil
		}
	}
	return chain[len(chain)-1].appendCell(b, row, most)
}

// Rows returns how many rows there are.
func (v *Values) Rows() int64 { return v.rows }
