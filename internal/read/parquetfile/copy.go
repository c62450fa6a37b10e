package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"mirrorbeam/internal/read/corpus"
)

const (
	// copyRows and copyBytes bound what is handed to a column at once. The library ends a page only between two calls.
	copyRows  = 512
	copyBytes = 128 << 10
	// copyDictionary is how large the dictionary of a column may grow in bytes before values are written as they are.
	copyDictionary = 1 << 20
)

// Copy writes the rows that keep chooses by their numbers, in their order and with all columns, and returns how many
// they are. Keep is called once for each row, in order. The copy has the schema, the key-value metadata and the
// compression of the file, and row groups of no more rows than it has. A column that [File.Columns] would refuse is an
// error here too, and so is a row group that is damaged: a copy has all rows or there is none.
//
// The same file gives the same bytes. There are no Bloom filters in the copy.
func (f *File) Copy(w io.Writer, keep func(row int64) bool) (rows int64, err error) {
	return f.copy(w, keep, nil, nil)
}

// Cut does what Copy does, and cuts stretches out of the texts of a column, which [File.Cuttable] must have passed. Cuts is asked about rows that keep
// has chosen, before keep is asked about the next row group.
func (f *File) Cut(w io.Writer, keep func(row int64) bool, column string, cuts func(row int64) []corpus.Cut) (rows int64, err error) {
	if err := f.Cuttable(column); err != nil {
		return 0, err
	}
	number, err := f.find(column)
	if err != nil {
		return 0, err
	}
	return f.copy(w, keep, nil, &cutColumn{number, cuts})
}

// Cuttable returns an error if stretches cannot be cut out of the texts of a column: a [*FileError] if each is not one string.
func (f *File) Cuttable(column string) error {
	number, err := f.find(column)
	if err != nil {
		return err
	}
	if f.columns[number].MaxRepetitionLevel() > 0 || f.leaves[number].element.Type.V != format.ByteArray {
		return &FileError{Reason: fmt.Sprintf("its column %s does not have one string in each row, so nothing can be cut out of it", column)}
	}
	return nil
}

// cutColumn is a column with stretches to be cut out of its values.
type cutColumn struct {
	number int
	cuts   func(row int64) []corpus.Cut
}

// of returns the value of a row as the copy has it.
func (c *cutColumn) of(number int, row int64, value parquet.Value) parquet.Value {
	if c == nil || c.number != number || value.IsNull() {
		return value
	}
	cuts := c.cuts(row)
	if len(cuts) == 0 {
		return value
	}
	return parquet.ByteArrayValue(corpus.AppendCut(nil, value.ByteArray(), cuts)).Level(value.RepetitionLevel(), value.DefinitionLevel(), value.Column())
}

// copy is Copy with columns added, and with stretches cut out of one.
func (f *File) copy(w io.Writer, keep func(row int64) bool, added []addedColumn, cut *cutColumn) (rows int64, err error) {
	for number := range f.leaves {
		if err := f.readable(number); err != nil {
			return 0, err
		}
	}
	c, err := newCopier(f, w, added)
	if err != nil {
		return 0, err
	}
	c.cut = cut
	for group := range f.groups {
		n, err := c.copyGroup(group, keep)
		rows += n
		if err != nil {
			return rows, err
		}
	}
	return rows, c.finish()
}

type copier struct {
	file    *File
	output  *footerWriter
	writer  *parquet.GenericWriter[any]
	added   []addedColumn
	cut     *cutColumn
	pending int64 // rows in the row group that is being written
	most    int64 // rows of a row group
}

func newCopier(f *File, w io.Writer, added []addedColumn) (c *copier, err error) {
	// A schema that cannot be written makes the library panic. It comes from the file.
	defer recovered(&err)
	c = &copier{file: f, output: &footerWriter{output: w}, added: added}
	for _, group := range f.groups {
		c.most = max(c.most, group.Rows)
	}
	c.writer = parquet.NewGenericWriter[any](c.output,
		parquet.NewSchema(f.inner.Root().Name(), schemaOfCopy(f, added)),
		parquet.CreatedBy(creator, creatorVersion, ""),
		parquet.Compression(&parquet.Zstd), // of what has none: the columns of a file without rows, and those added
		parquet.DataPageVersion(1),
		parquet.DataPageStatistics(false),
		parquet.DictionaryMaxBytes(copyDictionary))
	return c, nil
}

// copyGroup writes the rows of a row group that are kept.
func (c *copier) copyGroup(number int, keep func(row int64) bool) (int64, error) {
	group := c.file.groups[number]
	kept, count := newRowSet(group.Rows), int64(0)
	for i := range group.Rows {
		if keep(group.First + i) {
			kept.set(i)
			count++
		}
	}
	if count == 0 {
		return 0, nil
	}
	if c.pending > 0 && c.pending+count > c.most {
		if err := c.writer.Flush(); err != nil {
			return 0, fmt.Errorf("write a row group: %w", err)
		}
		c.pending = 0
	}
	c.pending += count
	writers := c.writer.ColumnWriters()
	for i := range c.file.leaves {
		if err := c.file.copyColumn(number, i, kept, writers[i], c.cut); err != nil {
			return 0, err
		}
	}
	return count, c.addColumns(writers[len(c.file.leaves):], group, kept)
}

// addColumns writes the values of added columns for the rows of a group that are kept.
func (c *copier) addColumns(writers []*parquet.ColumnWriter, group Group, kept rowSet) error {
	for i, column := range c.added {
		batch := &batch{writer: writers[i]}
		for row := range group.Rows {
			if kept.has(row) {
				if err := batch.add(column.value(group.First + row)); err != nil {
					return err
				}
			}
		}
		if err := batch.write(len(batch.values)); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the footer.
func (c *copier) finish() error {
	if err := c.writer.Flush(); err != nil {
		return fmt.Errorf("write a row group: %w", err)
	}
	c.output.held = new(bytes.Buffer)
	if err := c.writer.Close(); err != nil {
		return fmt.Errorf("write the footer: %w", err)
	}
	return c.output.finish(c.file, len(c.added))
}

// copyColumn writes the values of a column that belong to rows which are kept.
func (f *File) copyColumn(group, number int, kept rowSet, writer *parquet.ColumnWriter, cut *cutColumn) error {
	column := openColumn(f, group, number)
	defer column.close()
	g := f.groups[group]
	repetition, definition := f.columns[number].MaxRepetitionLevel(), f.columns[number].MaxDefinitionLevel()
	batch := &batch{writer: writer}
	row := int64(-1)
	for {
		err := column.fill()
		if err == io.EOF {
			break
		}
		if err != nil {
			return f.copyFailure(group, column, max(row, 0), err)
		}
		for _, value := range column.values[column.at:column.end] {
			if value.RepetitionLevel() == 0 {
				row++
			}
			if row < 0 || row >= g.Rows {
				return f.copyFailure(group, column, 0, fmt.Errorf("its rows are not those of the row group, which has %d", g.Rows))
			}
			if value.RepetitionLevel() > repetition || value.DefinitionLevel() > definition {
				return f.copyFailure(group, column, row, errors.New("a value is nested deeper than its column"))
			}
			if kept.has(row) {
				if err := batch.add(cut.of(number, g.First+row, value)); err != nil {
					return err
				}
			}
		}
		column.at = column.end
		// The library will give the memory of the page to the next one.
		if err := batch.settle(); err != nil {
			return err
		}
	}
	if row+1 != g.Rows {
		return f.copyFailure(group, column, row+1, io.EOF)
	}
	return batch.write(len(batch.values))
}

// copyFailure says what an error of a column means, at a row of its group.
func (f *File) copyFailure(group int, column *column, row int64, err error) error {
	g := f.groups[group]
	cursor := Cursor{file: f, group: group, row: g.First + row, end: g.First + g.Rows}
	return cursor.failure(column, err)
}

// batch gathers values until they make whole rows.
type batch struct {
	writer *parquet.ColumnWriter
	values []parquet.Value
	last   int // where the last row begins
	own    int // how many of the values are independent of the page
	rows   int
	bytes  int
}

// add adds a value. Values before it are written if there are enough of them.
func (b *batch) add(value parquet.Value) error {
	if value.RepetitionLevel() == 0 {
		if b.rows >= copyRows || b.bytes >= copyBytes {
			if err := b.write(len(b.values)); err != nil {
				return err
			}
		}
		b.last = len(b.values)
		b.rows++
	}
	b.values = append(b.values, value)
	switch value.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		b.bytes += len(value.ByteArray())
	}
	return nil
}

// settle writes all rows but the last one, which may go on in the next page, and makes that one independent of this
// page.
func (b *batch) settle() error {
	if err := b.write(b.last); err != nil {
		return err
	}
	for ; b.own < len(b.values); b.own++ {
		b.values[b.own] = b.values[b.own].Clone()
	}
	return nil
}

// write writes the given number of values, which are whole rows.
func (b *batch) write(count int) error {
	if count == 0 {
		return nil
	}
	if _, err := b.writer.WriteRowValues(b.values[:count]); err != nil {
		return fmt.Errorf("write values: %w", err)
	}
	b.values = slices.Delete(b.values, 0, count)
	b.last, b.own, b.rows, b.bytes = 0, max(0, b.own-count), min(len(b.values), 1), 0
	return nil
}

type rowSet []uint64

func newRowSet(size int64) rowSet { return make(rowSet, (size+63)/64) }

func (s rowSet) set(i int64) { s[i/64] |= 1 << (i % 64) }

func (s rowSet) has(i int64) bool { return s[i/64]>>(i%64)&1 == 1 }

// Annotate writes rows with columns about their clusters behind all others: cluster and kept_id, which are strings,
// or 64 bits, or null, cluster_size (64 bits) and kept (a truth value). A row that keep has chosen is annotated several times, before
// keep is asked about the next row group, so the function has to give the same each time. Its bytes must not change. In
// all else it is [File.Copy]. Arrow's own description of the schema is left out: large strings and dictionaries are plain
// strings then. A file that has a column of one of these names is refused; see [File.Annotatable].
func (f *File) Annotate(w io.Writer, keep func(row int64) bool, annotations *corpus.Annotations) (rows int64, err error) {
	if err := f.Annotatable(); err != nil {
		return 0, err
	}
	annotation, leaf := annotations.Of, parquet.String()
	if annotations.HaveIntegers {
		leaf = parquet.Int(64)
	}
	name := parquet.Optional(parquet.Encoded(leaf, &parquet.RLEDictionary))
	optional := func(name string) parquet.Value { return nameValue(name, annotations.HaveIntegers) }
	added := []addedColumn{
		{node: name, value: func(row int64) parquet.Value { return optional(annotation(row).Cluster) }},
		{node: parquet.Int(64), value: func(row int64) parquet.Value { return parquet.Int64Value(annotation(row).Size) }},
		{node: parquet.Leaf(parquet.BooleanType), value: func(row int64) parquet.Value { return parquet.BooleanValue(annotation(row).Kept) }},
		{node: name, value: func(row int64) parquet.Value { return optional(annotation(row).KeptID) }},
	}
	for i, field := range corpus.AnnotationFields {
		added[i].name = field
	}
	return f.copy(w, keep, added, nil)
}

// Annotatable returns a [*FileError] if the file has a column already that [File.Annotate] would add.
func (f *File) Annotatable() error {
	for _, field := range f.inner.Root().Fields() {
		if name := field.Name(); slices.Contains(corpus.AnnotationFields, name) {
			return &FileError{Reason: fmt.Sprintf("the file has a column %s already, which annotating would add; rename it", name)}
		}
	}
	return nil
}

// nameValue returns a name as a string or a whole number, or null for an empty one.
func nameValue(name string, isInteger bool) parquet.Value {
	if name == "" {
		return parquet.NullValue()
	}
	if n, err := strconv.ParseInt(name, 10, 64); isInteger && err == nil {
		return parquet.Int64Value(n).Level(0, 1, 0)
	}
	return parquet.ByteArrayValue([]byte(name)).Level(0, 1, 0)
}

// addedColumn is a column that a copy has and its file has not.
type addedColumn struct {
	name  string
	node  parquet.Node
	value func(row int64) parquet.Value
}

// maxBound is the longest smallest or largest value of a column that a footer has, in bytes. The library puts whole
// texts there.
const maxBound = 64

// arrowSchema is the key under which Arrow keeps the schema of a table, with types that Parquet does not have, such as
// dictionaries. Arrow passes over it if there are other columns.
const arrowSchema = "ARROW:schema"

// footerWriter holds the footer of a copy back, to put into it what the library would lose: it makes the schema anew
// from what it knows of types, and drops what it does not know.
type footerWriter struct {
	output io.Writer
	held   *bytes.Buffer // nil until hold
}

// Write writes to the output, or holds back.
func (w *footerWriter) Write(p []byte) (int, error) {
	if w.held != nil {
		return w.held.Write(p)
	}
	return w.output.Write(p)
}

// finish writes what was held back. The footer gets the schema and the metadata of the file that was copied, and so
// many columns of its own.
func (w *footerWriter) finish(source *File, added int) error {
	held := w.held.Bytes()
	length := int(binary.LittleEndian.Uint32(held[len(held)-endBytes:]))
	begin := len(held) - endBytes - length
	protocol, metadata := new(thrift.CompactProtocol), new(format.FileMetaData)
	if err := thrift.Unmarshal(protocol, held[begin:][:length], metadata); err != nil {
		return fmt.Errorf("read the footer of the copy: %w", err)
	}
	restore(metadata, source, added)
	footer, err := thrift.Marshal(protocol, metadata)
	if err != nil {
		return fmt.Errorf("write the footer of the copy: %w", err)
	}
	ending := append(held[:begin:begin], footer...)
	ending = binary.LittleEndian.AppendUint32(ending, uint32(len(footer)))
	_, err = w.output.Write(append(ending, magic...))
	return err
}

// restore gives a footer the schema and the metadata of another file.
func restore(metadata *format.FileMetaData, source *File, added int) {
	original := source.metadata
	schema := append(thrift.Slice[format.SchemaElement](nil), original.Schema...)
	schema[0].NumChildren = thrift.New(schema[0].NumChildren.V + int32(added))
	metadata.Schema = append(schema, metadata.Schema[len(metadata.Schema)-added:]...)
	metadata.KeyValueMetadata = slices.Clone(original.KeyValueMetadata)
	if added > 0 {
		metadata.KeyValueMetadata = slices.DeleteFunc(metadata.KeyValueMetadata, func(pair format.KeyValue) bool {
			return pair.Key == arrowSchema
		})
	}
	for i := range metadata.RowGroups {
		for j := range source.leaves {
			// The library has no physical type for columns of nothing but nulls.
			metadata.RowGroups[i].Columns[j].MetaData.Type = source.leaves[j].element.Type.V
		}
		for j := range metadata.RowGroups[i].Columns {
			statistics := &metadata.RowGroups[i].Columns[j].MetaData.Statistics
			if max(len(statistics.MinValue), len(statistics.MaxValue)) > maxBound {
				statistics.MinValue, statistics.MaxValue = nil, nil
			}
		}
	}
}
