package arrowfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"mirrorbeam.dev/internal/input/parquetfile"
)

type leaf struct {
	parquetfile.Field
	top    int   // number of the field of the schema
	steps  []int // numbers of the fields of structs on the way down
	isUUID bool
	isRead bool // its values are read
}

// leavesOf lists the columns of a schema. Elements of a list have its path, elements of a map its path and key or
// value.
func leavesOf(schema *arrow.Schema) (leaves []leaf) {
	for i, field := range schema.Fields() {
		leaves = appendLeaves(leaves, field, leaf{Field: parquetfile.Field{Path: field.Name}, top: i})
	}
	return leaves
}

func appendLeaves(leaves []leaf, field arrow.Field, at leaf) []leaf {
	if name, _ := field.Metadata.GetValue("ARROW:extension:name"); name == "arrow.uuid" {
		at.isUUID = true
	}
	within := func(fields []arrow.Field) []leaf {
		for i, inner := range fields {
			below := at
			below.Path += "." + inner.Name
			below.steps = append(at.steps[:len(at.steps):len(at.steps)], i)
			leaves = appendLeaves(leaves, inner, below)
		}
		return leaves
	}
	switch t := field.Type.(type) {
	case *arrow.StructType:
		return within(t.Fields())
	case *arrow.MapType:
		at.Repeated = true
		return within([]arrow.Field{{Name: "key", Type: t.KeyType()}, {Name: "value", Type: t.ItemType()}})
	case arrow.ListLikeType:
		at.Repeated = true
		return appendLeaves(leaves, t.ElemField(), at)
	case *arrow.DictionaryType:
		return appendLeaves(leaves, arrow.Field{Type: t.ValueType}, at)
	case *arrow.RunEndEncodedType:
		return appendLeaves(leaves, arrow.Field{Type: t.Encoded()}, at)
	case arrow.ExtensionType:
		return appendLeaves(leaves, arrow.Field{Type: t.StorageType()}, at)
	}
	at.Type, at.isRead = typeName(field.Type)
	return append(leaves, at)
}

// typeName returns the name of a type as Parquet's columns have it, and whether values of it are read.
func typeName(t arrow.DataType) (name string, isRead bool) {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return "string", true
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return "binary", true
	case arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO, arrow.SPARSE_UNION,
		arrow.DENSE_UNION:
		return t.Name(), false
	}
	return t.Name(), true
}

// Field returns the column of a path such as content.body, or a *[parquetfile.FieldError] if there is none.
func (r *Reader) Field(path string) (parquetfile.Field, error) {
	number, err := r.find(path)
	if err != nil {
		return parquetfile.Field{}, err
	}
	return r.leaves[number].Field, nil
}

func (r *Reader) find(path string) (int, error) {
	var fields []parquetfile.Field
	for _, leaf := range r.leaves {
		fields = append(fields, leaf.Field)
	}
	number, err := parquetfile.Find(fields, path)
	if err == nil && !r.leaves[number].isRead {
		err = &parquetfile.FileError{Reason: fmt.Sprintf(
			"field %.64q has values of a type that is not read: make texts or numbers of them", path)}
	}
	return number, err
}

// Columns are columns that are wanted.
type Columns []leaf

// Columns chooses columns by their paths.
func (r *Reader) Columns(paths ...string) (Columns, error) {
	var chosen Columns
	for _, path := range paths {
		number, err := r.find(path)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, r.leaves[number])
	}
	return chosen, nil
}

// Values are the wanted columns of a batch.
type Values struct {
	columns  Columns
	arrays   []arrow.Array
	first    int64
	rows     int64
	mostList int64 // bytes that the values of a list may have
}

// Values reads the batch, as Batch does, and chooses columns of it.
func (r *Reader) Values(columns Columns) (*Values, error) {
	batch, err := r.Batch()
	if err != nil {
		return nil, err
	}
	v := &Values{columns: columns, first: r.FirstRow, rows: r.Rows, mostList: math.MaxInt64}
	if r.memory.most > 0 {
		v.mostList = r.memory.most / 3 // they are there twice, and once more while they grow
	}
	for _, column := range columns {
		v.arrays = append(v.arrays, batch.Column(column.top))
	}
	return v, nil
}

// Rows returns how many rows there are.
func (v *Values) Rows() int64 { return v.rows }

// Append appends rows from one of that number in the batch on to a buffer, until it has appended that number of bytes
// or all. Package parquetfile takes them apart. It returns the number of the row that comes next. A
// *[parquetfile.RowError] says that this row is too long, and that the one after it can be read.
func (v *Values) Append(buffer []byte, row int64, atLeast int) (_ []byte, next int64, err error) {
	for begin := len(buffer); row < v.rows && len(buffer)-begin < atLeast; row++ {
		longer, err := v.appendRow(buffer, row)
		if err != nil {
			return buffer, row, err
		}
		buffer = longer
	}
	return buffer, row, nil
}

func (v *Values) appendRow(b []byte, row int64) (_ []byte, err error) {
	defer recovered(&err)
	b = binary.AppendUvarint(b, uint64(v.first+row))
	for i, column := range v.columns {
		cell := cell{isUUID: column.isUUID, most: v.mostList}
		if !column.Repeated {
			cell.b = b
			if cell.add(v.arrays[i], int(row), column.steps); cell.count == 0 {
				cell.b = append(cell.b, 0)
			}
			b = cell.b
			continue
		}
		cell.isList = true
		if cell.add(v.arrays[i], int(row), column.steps); cell.bytes > v.mostList {
			return nil, &parquetfile.RowError{Row: v.first + row, Bytes: cell.bytes, Limit: v.mostList}
		}
		b = append(binary.AppendUvarint(b, uint64(cell.count)), cell.b...)
	}
	return b, nil
}

type cell struct {
	b      []byte
	count  int
	bytes  int64 // of all values
	most   int64 // of which so many are gathered
	isList bool
	isUUID bool
}

func (c *cell) add(a arrow.Array, row int, steps []int) {
	if a.IsNull(row) {
		return
	}
	switch a := a.(type) {
	case *array.Struct:
		c.add(a.Field(steps[0]), row, steps[1:])
	case array.ListLike:
		begin, end := a.ValueOffsets(row)
		values := a.ListValues()
		for i := begin; i < end; i++ {
			c.add(values, int(i), steps)
		}
	case *array.Dictionary:
		c.add(a.Dictionary(), a.GetValueIndex(row), steps)
	case *array.RunEndEncoded:
		c.add(a.Values(), a.GetPhysicalIndex(row), steps)
	case array.ExtensionArray:
		c.add(a.Storage(), row, steps)
	case *array.Null:
	default:
		c.addLeaf(a, row)
	}
}

func (c *cell) addLeaf(a arrow.Array, row int) {
	var room [64]byte
	content := appendText(room[:0], a, row)
	if c.isUUID {
		content = parquetfile.AppendUUID(nil, content)
	}
	c.count++
	begin := len(c.b)
	if !c.isList {
		c.b = append(c.b, 1)
	}
	c.b = append(binary.AppendUvarint(c.b, uint64(len(content))), content...)
	if c.bytes += int64(len(c.b) - begin); c.isList && c.bytes > c.most {
		c.b = c.b[:0]
	}
}

// appendText returns a value as text, as Parquet's columns have it.
func appendText(b []byte, a arrow.Array, row int) []byte {
	switch a := a.(type) {
	case interface{ Value(int) string }:
		return append(b, a.Value(row)...)
	case interface{ Value(int) []byte }:
		return append(b, a.Value(row)...)
	case *array.Boolean:
		return strconv.AppendBool(b, a.Value(row))
	case *array.Float16:
		return parquetfile.AppendFloat(b, float64(a.Value(row).Float32()), 32)
	case *array.Float32:
		return parquetfile.AppendFloat(b, float64(a.Value(row)), 32)
	case *array.Float64:
		return parquetfile.AppendFloat(b, a.Value(row), 64)
	case *array.Int8, *array.Int16, *array.Int32, *array.Uint8, *array.Uint16, *array.Uint32:
		return append(b, a.ValueStr(row)...)
	case *array.Int64:
		return strconv.AppendInt(b, a.Value(row), 10)
	case *array.Uint64:
		return strconv.AppendUint(b, a.Value(row), 10)
	case *array.Duration:
		return strconv.AppendInt(b, int64(a.Value(row)), 10)
	case *array.Decimal32:
		return decimal(b, a.DataType(), int64(a.Value(row)))
	case *array.Decimal64:
		return decimal(b, a.DataType(), int64(a.Value(row)))
	case *array.Decimal128:
		return parquetfile.AppendDecimal(b, a.Value(row).BigInt().Append(nil, 10),
			int(a.DataType().(arrow.DecimalType).GetScale()))
	case *array.Decimal256:
		return parquetfile.AppendDecimal(b, a.Value(row).BigInt().Append(nil, 10),
			int(a.DataType().(arrow.DecimalType).GetScale()))
	case *array.Date32:
		return parquetfile.AppendDate(b, int64(a.Value(row)))
	case *array.Date64:
		return parquetfile.AppendInstant(b, int64(a.Value(row)), time.Millisecond, time.DateOnly)
	case *array.Time32:
		return parquetfile.AppendInstant(b, int64(a.Value(row)), unitOf(a.DataType()), parquetfile.TimeLayout)
	case *array.Time64:
		return parquetfile.AppendInstant(b, int64(a.Value(row)), unitOf(a.DataType()), parquetfile.TimeLayout)
	case *array.Timestamp:
		layout := parquetfile.TimestampLayout
		if a.DataType().(*arrow.TimestampType).TimeZone != "" {
			layout += "Z"
		}
		return parquetfile.AppendInstant(b, int64(a.Value(row)), unitOf(a.DataType()), layout)
	}
	panic(fmt.Sprintf("values of the type %v are not read", a.DataType()))
}

func decimal(b []byte, t arrow.DataType, n int64) []byte {
	return parquetfile.AppendDecimal(b, strconv.AppendInt(nil, n, 10), int(t.(arrow.DecimalType).GetScale()))
}

func unitOf(t arrow.DataType) time.Duration {
	return t.(arrow.TemporalWithUnit).TimeUnit().Multiplier()
}

func isText(t arrow.DataType) bool {
	name, _ := typeName(t)
	return (name == "string" || name == "binary") && !strings.HasPrefix(t.Name(), "fixed")
}

// hasSoundOffsets reports whether the offsets of an array, and of the arrays in it, ascend within their values. The
// library trusts them when it copies: damaged ones have made it ask for 2^47 bytes.
func hasSoundOffsets(of arrow.Array) bool {
	if of.Len() == 0 {
		return true // it need not have any offset
	}
	switch a := of.(type) {
	case interface{ ValueOffsets() []int32 }:
		return areSound(a.ValueOffsets(), bytesOf(of))
	case interface{ ValueOffsets() []int64 }:
		return areSound(a.ValueOffsets(), bytesOf(of))
	case *array.List:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.LargeList:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.Map:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.FixedSizeList:
		return hasSoundOffsets(a.ListValues())
	case *array.Dictionary:
		return hasSoundOffsets(a.Dictionary())
	case array.ExtensionArray:
		return hasSoundOffsets(a.Storage())
	case *array.Struct:
		for i := range a.NumField() {
			if !hasSoundOffsets(a.Field(i)) {
				return false
			}
		}
	}
	return true
}

func bytesOf(a arrow.Array) int {
	if b := a.Data().Buffers()[2]; b != nil {
		return b.Len()
	}
	return 0
}

// isSoundList checks the offsets of a list, which may be a slice of a longer one, and the values that they reach.
func isSoundList[N int32 | int64](offsets []N, a, values arrow.Array) bool {
	first := a.Data().Offset()
	offsets = offsets[min(first, len(offsets)):min(first+a.Len()+1, len(offsets))]
	if len(offsets) == 0 {
		return true
	}
	return areSound(offsets, values.Len()) &&
		hasSoundOffsets(array.NewSlice(values, int64(offsets[0]), int64(offsets[len(offsets)-1])))
}

// areSound reports whether offsets ascend from 0 or more to length at most.
func areSound[N int32 | int64](offsets []N, length int) bool {
	return len(offsets) == 0 ||
		slices.IsSorted(offsets) && offsets[0] >= 0 && int64(offsets[len(offsets)-1]) <= int64(length)
}
