// Package parquetfile reads, writes and copies Parquet files.
//
// [Open] reads the footer of a file, and [File.Columns] chooses columns. A [Cursor] then reads a row group: it appends
// whole rows to a buffer of the caller, column values as bytes, and [Rows] takes them out again. [NewWriter] writes
// rows of results, and [File.Copy] a part of the rows of a file.
//
// # Paths
//
// A leaf column has a path: the names on the way to it, joined by dots. The levels that Parquet puts between a list and
// its elements have names without a meaning ("list", "element", "key_value"), so a path leaves them out. A list of
// strings called tags has the path tags, the names in a list of structs called authors have the path authors.name, and
// a map called labels has the paths labels.key and labels.value. [File.Columns] takes the path with all levels as well.
//
// # Values
//
// Strings and binary values are the bytes of the file. All else is text that tells equal values from different ones:
// whole numbers and decimals with all their digits, floating-point numbers in the fewest digits that tell them from
// their neighbours, true and false, dates as 2006-01-02, times as 15:04:05.999999999, times of days as
// 2006-01-02T15:04:05.999999999 with a Z behind it if the file says that they are UTC, UUIDs in their usual form.
//
// A cell of a plain column has one value, or none where it is null. A cell of a list has as many as the list has
// elements that are not null.
//
// # Damaged and hostile files
//
// The content of a file is never trusted. A [*FileError] says that a file cannot be used, a [*GroupError] that the rest
// of a row group cannot. An error of neither type comes from the storage. The library decodes footers, and values in
// pages. This package walks over footers before they are decoded, and reads, checks and decompresses pages itself: the
// library would decompress a page without a bound, and does not compare checksums. limits.go has the bounds. Where the
// library panics, that is turned into an error where damaged bytes are handed to it, and nowhere else.
//
// Encrypted files are refused. So is the older LZ4, which is not LZ4_RAW.
package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// File is a Parquet file that is open for reading. Any number of goroutines may use it.
type File struct {
	reader   io.ReaderAt
	size     int64
	footer   []byte
	metadata *metadata.FileMetaData
	leaves   []leaf
	groups   []Group
	memory   sync.Pool

	most int64                  // bytes that readers may hold; 0: no limit
	held atomic.Int64           // bytes that they hold
	hold func() (func(), error) // see Limit
}

// Group is a row group: the smallest part of a file that can be read by itself.
type Group struct {
	// First is the number of its first row, counted from the beginning of the file.
	First int64
	Rows  int64
}

// Open reads the footer of a file of the given size, in one or two reads. Reads are ranged and go to any place, so the
// reader may well be an object of a bucket. A *FileError says that the content is at fault.
func Open(reader io.ReaderAt, size int64) (*File, error) {
	footer, err := readFooter(reader, size)
	if err != nil {
		return nil, err
	}
	decoded, err := decodeFooter(footer)
	if err != nil {
		return nil, &FileError{Reason: "the footer is damaged", Err: err}
	}
	f := &File{reader: reader, size: size, footer: footer, metadata: decoded}
	if f.leaves, err = leavesOf(decoded.Schema); err != nil {
		return nil, &FileError{Reason: "the footer is damaged", Err: err}
	}
	if err := f.readGroups(); err != nil {
		return nil, err
	}
	if err := f.checkSingle(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) readGroups() error {
	first := int64(0)
	for i, group := range f.metadata.RowGroups {
		if group.NumRows < 0 || group.NumRows > maxGroupRows {
			return &FileError{Reason: fmt.Sprintf("row group %d has %d rows, and %d are the limit", i, group.NumRows,
				maxGroupRows)}
		}
		for number, column := range group.Columns {
			// A null is a value too, and so is a list without elements.
			if column.MetaData != nil && column.MetaData.NumValues < group.NumRows {
				return &FileError{Reason: fmt.Sprintf(
					"the footer is damaged: column %s of row group %d has %d values for %d rows",
					f.leaves[number].Path, i, column.MetaData.NumValues, group.NumRows)}
			}
			if column.MetaData != nil && f.leaves[number].column.PhysicalType() != parquet.Type(column.MetaData.Type) {
				return &FileError{Reason: fmt.Sprintf(
					"the footer is damaged: column %s of row group %d is stored as %v",
					f.leaves[number].Path, i, column.MetaData.Type)}
			}
		}
		f.groups = append(f.groups, Group{First: first, Rows: group.NumRows})
		first += group.NumRows
	}
	if first != f.metadata.NumRows {
		return &FileError{Reason: fmt.Sprintf("the footer is damaged: the file has %d rows, and its row groups %d",
			f.metadata.NumRows, first)}
	}
	return nil
}

// maxUntold is how many bytes of a file its footer may not tell of.
const maxUntold = 64 << 10

// checkSingle returns an error if another Parquet file precedes this one, as `cat` joins them: the footer would then be
// read with the pages of the first.
func (f *File) checkSingle() error {
	end := int64(len(magic))
	reach := func(offset *int64, length *int32) {
		if offset != nil && length != nil {
			end = max(end, *offset+int64(*length))
		}
	}
	for _, group := range f.metadata.RowGroups {
		for _, chunk := range group.Columns {
			reach(chunk.ColumnIndexOffset, chunk.ColumnIndexLength)
			reach(chunk.OffsetIndexOffset, chunk.OffsetIndexLength)
			if m := chunk.MetaData; m != nil {
				first := m.DataPageOffset
				if m.DictionaryPageOffset != nil && *m.DictionaryPageOffset > 0 {
					first = min(first, *m.DictionaryPageOffset)
				}
				end = max(end, first+m.TotalCompressedSize)
				reach(m.BloomFilterOffset, m.BloomFilterLength)
			}
		}
	}
	before := f.size - endBytes - int64(len(f.footer)) - end
	if before < int64(len(magic))+endBytes {
		return nil
	}
	// What is read may begin earlier: writers leave a few bytes that no footer tells of.
	from := max(0, before-maxUntold)
	border := make([]byte, before+int64(len(magic))-from)
	if _, err := f.reader.ReadAt(border, from); err != nil {
		return fmt.Errorf("read what precedes the file: %w", err)
	}
	if at := bytes.LastIndex(border, []byte(magic+magic)); at >= 0 {
		return &FileError{Reason: fmt.Sprintf("two Parquet files in one: split them at byte %d",
			from+int64(at+len(magic)))}
	}
	return nil
}

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.metadata.NumRows }

// Groups returns the row groups in their order. They are the caller's to read only.
func (f *File) Groups() []Group { return f.groups }

// Fields returns the leaf columns in their order.
func (f *File) Fields() []Field {
	fields := make([]Field, len(f.leaves))
	for i := range f.leaves {
		fields[i] = f.leaves[i].Field
	}
	return fields
}

// Field returns the leaf column of a path, or a *FieldError that names the columns that are there.
func (f *File) Field(path string) (Field, error) {
	number, err := f.find(path)
	if err != nil {
		return Field{}, err
	}
	return f.leaves[number].Field, nil
}

// Columns are the columns of a file that are wanted.
type Columns struct {
	file    *File
	numbers []int
}

// Columns chooses columns by their paths, in any order, and the same more than once. A *FieldError says that there is
// no such column and names those that are there, a *FileError that the column cannot be read.
func (f *File) Columns(paths ...string) (Columns, error) {
	columns := Columns{file: f}
	for _, path := range paths {
		number, err := f.find(path)
		if err != nil {
			return Columns{}, err
		}
		if err := f.readable(number); err != nil {
			return Columns{}, err
		}
		columns.numbers = append(columns.numbers, number)
	}
	return columns, nil
}

// Bytes returns how much the columns take of a row group, as they are compressed.
func (c Columns) Bytes(group int) (sum int64) {
	for i, column := range c.file.metadata.RowGroups[group].Columns {
		if slices.Contains(c.numbers, i) {
			sum += max(0, column.MetaData.TotalCompressedSize)
		}
	}
	return sum
}

func (f *File) find(path string) (int, error) {
	for i := range f.leaves {
		if f.leaves[i].whole == path && f.leaves[i].Path != path {
			return i, nil
		}
	}
	return Find(f.Fields(), path)
}

// Find returns the number of the column that a path leads to, of those that a file has.
func Find(fields []Field, path string) (int, error) {
	found := -1
	var all, below []string
	for i, field := range fields {
		if field.Path == path && found >= 0 {
			return 0, &FieldError{Path: path, Many: true}
		}
		if field.Path == path {
			found = i
		}
		all = append(all, field.Path)
		if strings.HasPrefix(field.Path, path+".") {
			below = append(below, field.Path)
		}
	}
	if found >= 0 {
		return found, nil
	}
	if below != nil {
		return 0, &FieldError{Path: path, There: below}
	}
	return 0, &FieldError{Path: path, There: all}
}

func (f *File) readable(number int) error {
	path := f.leaves[number].Path
	for _, group := range f.metadata.RowGroups {
		chunk := group.Columns[number]
		switch {
		case chunk.CryptoMetadata != nil || len(chunk.EncryptedColumnMetadata) > 0:
			return &FileError{Reason: fmt.Sprintf("column %s is encrypted; decrypt it first", path)}
		case chunk.FilePath != nil && *chunk.FilePath != "":
			return &FileError{Reason: fmt.Sprintf("column %s is in another file, %s", path, *chunk.FilePath)}
		case !isKnown(compress.Compression(chunk.MetaData.Codec)):
			return &FileError{Reason: fmt.Sprintf("column %s is compressed with %v, which cannot be read; "+
				"rewrite the file with zstd, for example with pyarrow: "+
				"pq.write_table(pq.read_table('in.parquet'), 'out.parquet', compression='zstd')", path,
				chunk.MetaData.Codec)}
		}
	}
	return nil
}

// Field is a leaf column of a file.
type Field struct {
	// Path is the name of the column, with dots on the way down. See the description of the package.
	Path string
	// Type is its type in plain words, such as string, int64, decimal(10,2) or timestamp.
	Type string
	// Repeated says that a row may have several values: the column is in a list or in a map.
	Repeated bool
}

// leaf is a leaf column as the schema describes it. Its number is its place among the leaves.
type leaf struct {
	Field
	column *schema.Column
	whole  string
}

func leavesOf(of *schema.Schema) (leaves []leaf, err error) {
	defer recovered(&err) // the library gives up on leaves that say they are lists
	for i := range of.Root().NumFields() {
		leaves = appendLeaves(leaves, of, of.Root().Field(i), place{}, true)
	}
	if len(leaves) != of.NumColumns() {
		return nil, fmt.Errorf("the schema has %d columns, and lists %d", of.NumColumns(), len(leaves))
	}
	return leaves, nil
}

type place struct {
	path, whole []string
	repeated    bool
}

// into returns the place of a child. Its name is part of the path if it means something.
func (p place) into(node schema.Node, named bool) place {
	child := place{
		path:     p.path,
		whole:    append(p.whole[:len(p.whole):len(p.whole)], node.Name()),
		repeated: p.repeated || node.RepetitionType() == parquet.Repetitions.Repeated,
	}
	if named {
		child.path = append(p.path[:len(p.path):len(p.path)], node.Name())
	}
	return child
}

// appendLeaves appends the leaves of a node. The only child of a list or a map is repeated, and the name of that child
// means nothing. A child of a list with one child of its own, other than one made by old writers, is a level more
// without a meaning.
func appendLeaves(leaves []leaf, of *schema.Schema, node schema.Node, parent place, named bool) []leaf {
	here := parent.into(node, named)
	group, isGroup := node.(*schema.GroupNode)
	switch {
	case !isGroup:
		column := of.Column(len(leaves))
		return append(leaves, leaf{
			Field:  Field{Path: strings.Join(here.path, "."), Type: typeName(column), Repeated: here.repeated},
			column: column,
			whole:  strings.Join(here.whole, "."),
		})
	case (isList(group) || isMap(group)) && group.NumFields() == 1:
		below := group.Field(0)
		inner, isGroup := below.(*schema.GroupNode)
		if isGroup && inner.NumFields() == 1 && !isMap(group) && below.Name() != "array" &&
			below.Name() != group.Name()+"_tuple" {
			here, below = here.into(below, false), inner.Field(0)
		}
		return appendLeaves(leaves, of, below, here, false)
	}
	for i := range group.NumFields() {
		leaves = appendLeaves(leaves, of, group.Field(i), here, true)
	}
	return leaves
}

// isList and isMap go by the logical type of a node, or by the converted type of older files.
func isList(node schema.Node) bool {
	_, is := node.LogicalType().(schema.ListLogicalType)
	return is || node.ConvertedType() == schema.ConvertedTypes.List
}

func isMap(node schema.Node) bool {
	_, is := node.LogicalType().(schema.MapLogicalType)
	return is || node.ConvertedType() == schema.ConvertedTypes.Map ||
		node.ConvertedType() == schema.ConvertedTypes.MapKeyValue
}

func typeName(column *schema.Column) string {
	switch t := column.LogicalType().(type) {
	case schema.IntLogicalType:
		if !t.IsSigned() {
			return fmt.Sprintf("uint%d", t.BitWidth())
		}
		return fmt.Sprintf("int%d", t.BitWidth())
	case schema.DecimalLogicalType:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
	case schema.TimestampLogicalType:
		return "timestamp"
	case schema.TimeLogicalType:
		return "time"
	case nil, schema.NoLogicalType, schema.UnknownLogicalType:
	default:
		return strings.ToLower(t.String())
	}
	switch column.PhysicalType() {
	case parquet.Types.Int96:
		return "timestamp"
	case parquet.Types.ByteArray:
		return "binary"
	case parquet.Types.FixedLenByteArray:
		return fmt.Sprintf("binary(%d)", column.TypeLength())
	default:
		return strings.ToLower(column.PhysicalType().String())
	}
}
