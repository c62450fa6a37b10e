package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"mirrorbeam.dev/internal/input/arrowmeta"
	"mirrorbeam.dev/internal/input/corpus"
)

const (
	// copyDictionary is how large the dictionary of a column may grow in bytes before values are written as they are.
	copyDictionary = 1 << 20
	// copyValues is after how many values the library checks the sizes of page and dictionary. Values may be long.
	copyValues = 16
)

// Copy writes the rows that rows.Keep chooses by their numbers, in their order and with all columns, and returns how
// many they are. Keep is called once for each row, in order. The copy has the schema, the key-value metadata and the
// compression of the file, and row groups of no more rows than it has. A column that [File.Columns] would refuse is an
// error here too, and so is a damaged row group, unless there is a function Lost: then the copy has the rows before the
// damage.
//
// With annotations, the new columns are behind all others, and what Arrow and pandas say about columns says the same
// about them.
//
// The same file gives the same bytes. There are no Bloom filters in the copy.
func (f *File) Copy(w io.Writer, rows corpus.RowCopy) (copied int64, err error) {
	c := &copier{file: f, rows: rows, output: &footerWriter{output: w}, cut: -1}
	if rows.Annotations != nil {
		c.added, err = arrowmeta.Added(rows.Annotations), f.Annotatable(rows.Annotations.Columns)
	} else if rows.Cuts != nil {
		c.cut, err = f.Cuttable(rows.Text)
	}
	for number := 0; number < len(f.leaves) && err == nil; number++ {
		err = f.readable(number)
	}
	if err == nil {
		err = c.begin()
	}
	for group := 0; group < len(f.groups) && err == nil; group++ {
		var n int64
		n, err = c.copyGroup(group)
		copied += n
	}
	if err != nil {
		return copied, err
	}
	return copied, c.finish()
}

// Cuttable returns the number of a column whose texts can be cut, and a [*FileError] if each is not one string.
func (f *File) Cuttable(column string) (number int, err error) {
	if number, err = f.find(column); err != nil {
		return 0, err
	}
	if column := f.leaves[number].column; column.MaxRepetitionLevel() > 0 ||
		column.PhysicalType() != parquet.Types.ByteArray {
		return 0, &FileError{Reason: fmt.Sprintf(
			"its column %s does not have one string in each row, so nothing can be cut out of it", column)}
	}
	return number, nil
}

type copier struct {
	file    *File
	rows    corpus.RowCopy
	output  *footerWriter
	writer  *file.Writer
	group   file.BufferedRowGroupWriter // nil before the first row
	added   []arrowmeta.Column
	cut     int   // number of the column that is cut; -1: none
	pending int64 // rows in the row group that is being written
	most    int64 // rows of a row group
}

func (c *copier) begin() (err error) {
	// A schema that cannot be written makes the library panic. It comes from the file.
	defer recovered(&err)
	f := c.file
	for _, group := range f.groups {
		c.most = max(c.most, group.Rows)
	}
	again, err := decodeFooter(f.footer) // its nodes become part of another schema
	if err != nil {
		return err
	}
	root := again.Schema.Root()
	var fields schema.FieldList
	for i := range root.NumFields() {
		fields = append(fields, root.Field(i))
	}
	properties := f.properties()
	for _, column := range c.added {
		fields = append(fields, nodeOf(column.Field))
		properties = append(properties, parquet.WithDictionaryFor(column.Name, column.Nullable))
	}
	if root, err = schema.NewGroupNode(root.Name(), parquet.Repetitions.Required, fields, -1); err != nil {
		return err
	}
	pairs := f.metadata.KeyValueMetadata()
	if len(c.added) > 0 {
		pairs = describe(pairs, c.added)
	}
	c.writer, err = file.NewParquetWriterWithError(c.output, root,
		file.WithWriterProps(parquet.NewWriterProperties(properties...)), file.WithWriteMetadata(pairs))
	return err
}

// properties returns how a copy is written: columns compressed, and with dictionaries, as in the first row group.
func (f *File) properties() []parquet.WriterProperty {
	properties := append(writerProperties(), parquet.WithMaxStatsSize(maxBound))
	if len(f.metadata.RowGroups) == 0 {
		return properties
	}
	for i, chunk := range f.metadata.RowGroups[0].Columns {
		path := f.leaves[i].column.ColumnPath()
		properties = append(properties, parquet.WithCompressionPath(path, compress.Compression(chunk.MetaData.Codec)))
		if chunk.MetaData.DictionaryPageOffset != nil && f.leaves[i].column.PhysicalType() != parquet.Types.Boolean {
			properties = append(properties, parquet.WithDictionaryPath(path, true))
		}
	}
	return properties
}

func (c *copier) copyGroup(number int) (int64, error) {
	group := c.file.groups[number]
	kept, count := newRowSet(group.Rows), int64(0)
	for i := range group.Rows {
		if c.rows.Keep(group.First + i) {
			kept.set(i)
			count++
		}
	}
	if count == 0 {
		return 0, nil
	}
	sound, err := c.sound(number)
	if err != nil {
		return 0, err
	}
	if lost := kept.cut(sound); lost > 0 {
		c.rows.Lost(lost)
		if count -= lost; count == 0 {
			return 0, nil
		}
	}
	if c.group == nil || c.pending+count > c.most {
		var err error
		if c.group, err = c.writer.AppendBufferedRowGroupChecked(); err != nil {
			return 0, fmt.Errorf("write a row group: %w", err)
		}
		c.pending = 0
	}
	c.pending += count
	for i := range c.file.leaves {
		writer, err := c.group.Column(i)
		if err != nil {
			return 0, fmt.Errorf("write column %s: %w", c.file.leaves[i].Path, err)
		}
		k := &columnCopy{group: group, kept: kept, writer: writer, row: -1, rows: sound}
		if c.cut == i {
			k.cuts = c.rows.Cuts
		}
		if err := c.file.copyColumn(number, i, k); err != nil {
			return 0, err
		}
	}
	return count, c.addColumns(group, kept)
}

// sound returns how many rows of a row group can be read before the first damage to any column. All columns are read
// before the first row is written: what is written cannot be taken back.
func (c *copier) sound(number int) (rows int64, err error) {
	f, group := c.file, c.file.groups[number]
	rows = group.Rows
	if c.rows.Lost == nil {
		return rows, nil
	}
	for i := range f.leaves {
		err := f.copyColumn(number, i, &columnCopy{group: group, kept: newRowSet(group.Rows), row: -1, rows: rows})
		if found, is := errors.AsType[*GroupError](err); is {
			rows = found.First - group.First
		} else if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

func (c *copier) addColumns(group Group, kept rowSet) error {
	var rows [valuesAtOnce]int64
	n := 0
	write := func() error {
		for i, column := range c.added {
			writer, err := c.group.Column(len(c.file.leaves) + i)
			if err == nil {
				err = writeAdded(writer, column, rows[:n])
			}
			if err != nil {
				return fmt.Errorf("write column %s: %w", column.Name, err)
			}
		}
		n = 0
		return nil
	}
	for row := range group.Rows {
		if !kept.has(row) {
			continue
		}
		rows[n] = group.First + row
		if n++; n == len(rows) {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}

func (c *copier) finish() error {
	if c.group != nil {
		if err := c.group.Close(); err != nil {
			return fmt.Errorf("write a row group: %w", err)
		}
	}
	c.output.held = new(bytes.Buffer)
	if err := c.writer.Close(); err != nil {
		return fmt.Errorf("write the footer: %w", err)
	}
	return c.output.finish(c.file.footer, len(c.added))
}

type columnCopy struct {
	group  Group
	kept   rowSet
	writer file.ColumnChunkWriter
	cuts   func(row int64) []corpus.Cut // nil if nothing is cut out of the column
	row    int64                        // of the last value, in the group
	rows   int64                        // of the group that are read; the next ones may be damaged
	fault  error                        // the content is at fault
}

func (f *File) copyColumn(group, number int, k *columnCopy) error {
	column := openColumn(f, group, number)
	defer column.of().close()
	for {
		err := column.fill()
		if err == nil {
			if err := column.copyTo(k); err != nil {
				return fmt.Errorf("write column %s: %w", f.leaves[number].Path, err)
			}
			err = k.fault
		}
		whole := k.row + 1 // rows that are read to their end
		if column.of().isRepeated && err != io.EOF {
			whole = max(k.row, 0)
		}
		if err == io.EOF && whole == k.group.Rows || k.rows < k.group.Rows && whole >= k.rows {
			return nil
		}
		if err != nil {
			cursor := Cursor{file: f, group: group, row: k.group.First + whole, end: k.group.First + k.group.Rows}
			return cursor.failure(column, err)
		}
	}
}

func (c *typedColumn[T]) copyTo(k *columnCopy) error {
	n, there := 0, 0 // how many levels and values are kept
	for ; c.at < c.end; c.at++ {
		isNull := c.isNull()
		if c.begins() {
			k.row++
		}
		if k.row < 0 || k.row >= k.group.Rows {
			k.fault = fmt.Errorf("its rows are not those of the row group, which has %d", k.group.Rows)
			return nil
		}
		if k.kept.has(k.row) {
			c.definition[n], c.repetition[n] = c.definition[c.at], c.repetition[c.at]
			n++
			if !isNull {
				c.values[there] = c.values[c.next]
				k.cut(any(&c.values[there]))
				there++
			}
		}
		if !isNull {
			c.next++
		}
	}
	return writeValues(k.writer, c.values[:there], c.definition[:n], c.repetition[:n])
}

func (k *columnCopy) cut(value any) {
	if k.cuts == nil {
		return
	}
	if cuts := k.cuts(k.group.First + k.row); len(cuts) > 0 {
		text := value.(*parquet.ByteArray)
		*text = corpus.AppendCut(nil, *text, cuts)
	}
}

// writeValues writes values to a column. Levels that its type does not have are not looked at.
func writeValues[T parquet.ColumnTypes](w file.ColumnChunkWriter, values []T, definition, repetition []int16) error {
	if len(values) == 0 && len(definition) == 0 {
		return nil
	}
	if w.Descr().MaxRepetitionLevel() == 0 {
		repetition = nil
	}
	if w.Descr().MaxDefinitionLevel() == 0 {
		definition = nil
	}
	typed, is := w.(interface {
		WriteBatch(values []T, definition, repetition []int16) (int64, error)
	})
	if !is {
		return fmt.Errorf("the column has values of the type %v", w.Type())
	}
	_, err := typed.WriteBatch(values, definition, repetition)
	return err
}

type rowSet []uint64

func newRowSet(size int64) rowSet { return make(rowSet, (size+63)/64) }

func (s rowSet) cut(begin int64) (removed int64) {
	for i := begin; i < int64(len(s))*64; i++ {
		if s.has(i) {
			s[i/64] &^= 1 << (i % 64)
			removed++
		}
	}
	return removed
}

func (s rowSet) set(i int64) { s[i/64] |= 1 << (i % 64) }

func (s rowSet) has(i int64) bool { return s[i/64]>>(i%64)&1 == 1 }

// Annotatable returns a [*FileError] if the file has one of these columns already.
func (f *File) Annotatable(columns []string) error {
	root, fields := f.metadata.Schema.Root(), []string{}
	for i := range root.NumFields() {
		fields = append(fields, root.Field(i).Name())
	}
	if name := corpus.Clash(columns, fields); name != "" {
		return &FileError{Reason: fmt.Sprintf(
			"the file has a column %s already, which annotating would add; rename it", name)}
	}
	return nil
}

func nodeOf(field arrow.Field) schema.Node {
	repetition := parquet.Repetitions.Required
	if field.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	switch field.Type.ID() {
	case arrow.INT64:
		return schema.NewInt64Node(field.Name, repetition, -1)
	case arrow.BOOL:
		return schema.NewBooleanNode(field.Name, repetition, -1)
	}
	return textNode(field.Name, repetition)
}

func writeAdded(w file.ColumnChunkWriter, column arrowmeta.Column, rows []int64) error {
	var numbers []int64
	var truths []bool
	var texts []parquet.ByteArray
	definition := make([]int16, len(rows))
	for i, row := range rows {
		definition[i] = 1
		switch value := column.Of(row).(type) {
		case int64:
			numbers = append(numbers, value)
		case bool:
			truths = append(truths, value)
		case string:
			texts = append(texts, parquet.ByteArray(value))
		default:
			definition[i] = 0
		}
	}
	switch column.Type.ID() {
	case arrow.INT64:
		return writeValues(w, numbers, definition, nil)
	case arrow.BOOL:
		return writeValues(w, truths, definition, nil)
	}
	return writeValues(w, texts, definition, nil)
}

func textNode(name string, repetition parquet.Repetition) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, repetition, schema.StringLogicalType{},
		parquet.Types.ByteArray, -1, -1))
}

// maxBound is the longest smallest or largest value of a column that a footer has, in bytes.
const maxBound = 64

// footerWriter holds the footer of a copy back, to put the file's schema into it: the library drops unknown parts.
type footerWriter struct {
	output io.Writer
	held   *bytes.Buffer // nil until the footer
}

func (w *footerWriter) Write(p []byte) (int, error) {
	if w.held != nil {
		return w.held.Write(p)
	}
	return w.output.Write(p)
}

// finish writes the footer with the schema of the file that was copied, and this many columns of its own.
func (w *footerWriter) finish(source []byte, added int) error {
	held := w.held.Bytes()
	length := int(binary.LittleEndian.Uint32(held[len(held)-endBytes:]))
	begin := len(held) - endBytes - length
	footer := held[begin:][:length]
	mine, err := schemaIn(footer)
	if err != nil {
		return fmt.Errorf("read the footer of the copy: %w", err)
	}
	theirs, err := schemaIn(source)
	if err != nil {
		return fmt.Errorf("read the footer of the file: %w", err)
	}
	elements := theirs.elements
	if added > 0 {
		elements = slices.Concat(mine.elements[:1], elements[1:], mine.elements[len(mine.elements)-added:])
	}
	joined := append([]byte{}, footer[:mine.begin]...)
	joined = append(joined, 0xf<<4|thriftStruct)
	joined = binary.AppendUvarint(joined, uint64(len(elements)))
	for _, element := range elements {
		joined = append(joined, element...)
	}
	joined = append(joined, footer[mine.end:]...)
	ending := append(held[:begin:begin], joined...)
	ending = binary.LittleEndian.AppendUint32(ending, uint32(len(joined)))
	_, err = w.output.Write(append(ending, magic...))
	return err
}

type storedSchema struct {
	begin, end int // of the list
	elements   [][]byte
}

func schemaIn(footer []byte) (found storedSchema, err error) {
	_, err = walk(footer, maxFooterItems, func(path []int, begin, end int, _ int64) {
		switch {
		case path[0] != footerSchema:
		case len(path) == 1:
			found.begin, found.end = begin, end
		case len(path) == 2 && path[1] == inList:
			found.elements = append(found.elements, footer[begin:end])
		}
	})
	if err == nil && len(found.elements) == 0 {
		err = errors.New("it has no schema")
	}
	return found, err
}

func writerProperties() []parquet.WriterProperty {
	return []parquet.WriterProperty{
		parquet.WithCreatedBy(creator),
		// of what has none: the columns of a file without rows, and those added
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDataPageVersion(parquet.DataPageV1), // which all readers know, as they know plain values
		parquet.WithDictionaryDefault(false),
		parquet.WithDictionaryPageSizeLimit(copyDictionary),
		parquet.WithBatchSize(copyValues),
	}
}

// arrowKey is the key of Arrow's schema of a table, with types that Parquet lacks, such as dictionaries.
const arrowKey = "ARROW:schema"

// describe adds columns to what Arrow and pandas say of a table. What cannot be read is left out: it is damaged.
func describe(pairs metadata.KeyValueMetadata, added []arrowmeta.Column) metadata.KeyValueMetadata {
	var fields []arrow.Field
	for _, column := range added {
		fields = append(fields, column.Field)
	}
	hasPandas := false
	described := metadata.NewKeyValueMetadata()
	for _, pair := range pairs {
		value, err := "", error(nil)
		switch pair.Key {
		case arrowKey:
			value, err = arrowmeta.AddFields(pair.GetValue(), fields...)
		case arrowmeta.PandasKey:
			hasPandas = true
			value, err = arrowmeta.AddPandas(pair.GetValue(), fields...)
		default:
			described = append(described, pair)
			continue
		}
		if err == nil {
			described.Append(pair.Key, value) // has no error for texts that were read
		}
	}
	if value, err := arrowmeta.AddPandas("", fields...); !hasPandas && err == nil {
		described.Append(arrowmeta.PandasKey, value)
	}
	return described
}
