package arrowfile

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"mirrorbeam.dev/internal/input/arrowmeta"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

const copyRows = 1 << 14

type copier struct {
	reader *Reader
	rows   corpus.RowCopy
	out    interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	schema *arrow.Schema
	added  []arrowmeta.Column
	text   int // number of the column that is cut
	copied int64
}

// Copy writes rows of the file that the reader has just opened, in their order and with all columns, and returns how
// many they are. The copy is a file or a stream as the original is, with its schema and its compression. A damaged
// batch without a row to keep is left out, and so is what follows damage between batches: the caller finds the rows to
// keep that are not there. Other errors are about the whole copy.
func (r *Reader) Copy(w io.Writer, rows corpus.RowCopy) (copied int64, err error) {
	defer recovered(&err)
	c := &copier{reader: r, rows: rows}
	c.schema = r.inner.Schema()
	if rows.Annotations != nil {
		c.added, err = arrowmeta.Added(rows.Annotations), r.Annotatable(rows.Annotations.Columns)
		var fields []arrow.Field
		for _, column := range c.added {
			fields = append(fields, column.Field)
		}
		c.schema = arrowmeta.WithFields(c.schema, fields...)
	} else if rows.Cuts != nil {
		c.text, err = r.Cuttable(rows.Text)
	}
	if err != nil {
		return 0, err
	}
	for {
		if err := r.Next(); err == io.EOF || IsDamage(err) {
			break
		} else if err != nil {
			return c.copied, err
		}
		if err := c.copyBatch(w); err != nil {
			return c.copied, err
		}
	}
	if c.out == nil {
		if err := c.begin(w); err != nil {
			return 0, err
		}
	}
	return c.copied, c.out.Close()
}

// begin begins the copy. The first batch has told how it is compressed.
func (c *copier) begin(w io.Writer) (err error) {
	options := []ipc.Option{ipc.WithSchema(c.schema), ipc.WithDictionaryDeltas(true)}
	switch c.reader.codec {
	case arrowmeta.LZ4:
		options = append(options, ipc.WithLZ4())
	case arrowmeta.Zstd:
		options = append(options, ipc.WithZstd())
	}
	if !c.reader.isFile {
		c.out = ipc.NewWriter(w, options...)
		return nil
	}
	c.out, err = ipc.NewFileWriter(struct{ io.Writer }{w}, options...)
	return err
}

func (c *copier) copyBatch(w io.Writer) error {
	batch, damage := c.reader.Batch() // first: the number of rows that its header tells may be made up
	if damage != nil && !IsDamage(damage) {
		return damage
	}
	var kept []int64
	for row := range c.reader.Rows {
		if c.rows.Keep(c.reader.FirstRow + row) {
			kept = append(kept, row)
		}
		if damage != nil && len(kept) > 0 {
			return damage
		}
	}
	if damage != nil {
		return nil
	}
	if c.out == nil {
		if err := c.begin(w); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(kept, copyRows) {
		if err := c.write(batch, some); err != nil {
			return err
		}
	}
	c.copied += int64(len(kept))
	return nil
}

type span struct{ begin, end int64 }

// write writes rows of a batch as one batch, or as several if the library cannot join them, without damaged rows.
func (c *copier) write(batch arrow.RecordBatch, rows []int64) error {
	var spans []span
	for i, row := range rows {
		if i == 0 || row != rows[i-1]+1 {
			spans = append(spans, span{row, row})
		}
		spans[len(spans)-1].end = row + 1
	}
	columns := make([]arrow.Array, batch.NumCols())
	for i := range columns {
		var err error
		if columns[i], err = joined(batch.Column(i), spans); err != nil && len(rows) > 1 {
			half := len(rows) / 2
			if err := c.write(batch, rows[:half]); err != nil {
				return err
			}
			return c.write(batch, rows[half:])
		} else if err != nil && IsDamage(err) && c.rows.Lost != nil {
			c.copied--
			c.rows.Lost(1)
			return nil
		} else if err != nil {
			return fmt.Errorf("copy column %s: %w", batch.ColumnName(i), err)
		}
	}
	if c.rows.Cuts != nil && c.rows.Annotations == nil {
		columns[c.text] = c.cut(columns[c.text], rows)
	}
	for _, column := range c.added {
		columns = append(columns, c.values(column, rows))
	}
	return c.out.Write(array.NewRecordBatch(c.schema, columns, int64(len(rows))))
}

// joined returns spans of an array as one. The library cannot write a part of an array of all types, and cannot join
// arrays of all types: a part that is in one span is joined with nothing, or left as it is.
func joined(a arrow.Array, spans []span) (arrow.Array, error) {
	parts, err := sliced(a, spans)
	if err != nil {
		return nil, err
	}
	if parts[0].Len() == a.Len() {
		return parts[0], nil
	}
	whole, err := concatenated(parts)
	if err != nil && len(parts) == 1 {
		return parts[0], nil
	}
	return whole, err
}

func sliced(a arrow.Array, spans []span) (parts []arrow.Array, err error) {
	defer recovered(&err)
	for _, s := range spans {
		part := array.NewSlice(a, s.begin, s.end)
		if !hasSoundOffsets(part) {
			return nil, damage{arrowmeta.ErrMetadata}
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func concatenated(parts []arrow.Array) (_ arrow.Array, err error) {
	defer recovered(&err)
	return array.Concatenate(parts, memory.DefaultAllocator)
}

type appender interface {
	array.Builder
	AppendString(string)
}

func (c *copier) cut(texts arrow.Array, rows []int64) arrow.Array {
	builder := array.NewBuilder(memory.DefaultAllocator, texts.DataType())
	for i, row := range rows {
		if texts.IsNull(i) {
			builder.AppendNull()
			continue
		}
		text := string(corpus.AppendCut(nil, appendText(nil, texts, i), c.rows.Cuts(c.reader.FirstRow+row)))
		if b, is := builder.(appender); is {
			b.AppendString(text)
		} else {
			builder.(interface{ Append([]byte) }).Append([]byte(text))
		}
	}
	return builder.NewArray()
}

func (c *copier) values(of arrowmeta.Column, rows []int64) arrow.Array {
	builder := array.NewBuilder(memory.DefaultAllocator, of.Type)
	for _, row := range rows {
		switch value := of.Of(c.reader.FirstRow + row).(type) {
		case bool:
			builder.(*array.BooleanBuilder).Append(value)
		case int64:
			builder.(*array.Int64Builder).Append(value)
		case string:
			builder.(*array.StringBuilder).Append(value)
		default:
			builder.AppendNull()
		}
	}
	return builder.NewArray()
}

// Annotatable returns an error if the file has a column already that annotating would add.
func (r *Reader) Annotatable(columns []string) error {
	var fields []string
	for _, field := range r.inner.Schema().Fields() {
		fields = append(fields, field.Name)
	}
	if name := corpus.Clash(columns, fields); name != "" {
		return &parquetfile.FileError{
			Reason: fmt.Sprintf("the file has a column %s already, which annotating would add; rename it", name),
		}
	}
	return nil
}

// Cuttable returns the number of a column out of whose texts stretches can be cut.
func (r *Reader) Cuttable(path string) (int, error) {
	number, err := r.find(path)
	if err != nil {
		return 0, err
	}
	leaf := r.leaves[number]
	if leaf.Repeated || len(leaf.steps) > 0 || !isText(r.inner.Schema().Field(leaf.top).Type) {
		return 0, &parquetfile.FileError{Reason: fmt.Sprintf(
			"its column %s does not have one string in each row, in a column of its own and "+
				"without a dictionary, so nothing can be cut out of it: write it as strings first", path)}
	}
	return leaf.top, nil
}
