package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/input/corpus"
)

// columnTypes are types of columns with some values of each, as JSON. Those that only Arrow has come last.
func columnTypes() (all []arrow.Field, values []string, ofParquet int) {
	add := func(of arrow.DataType, json string) {
		all = append(all, arrow.Field{Name: fmt.Sprintf("%d %v", len(all), of), Type: of, Nullable: true})
		values = append(values, json)
	}
	add(arrow.FixedWidthTypes.Boolean, `true,false,null`)
	add(arrow.FixedWidthTypes.Boolean, `true`)
	for _, of := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Time64ns,
	} {
		add(of, `1,null,127,0`)
	}
	for _, unit := range arrow.TimeUnitValues {
		add(&arrow.TimestampType{Unit: unit}, `"1969-12-31 23:59:58",null`)
		add(&arrow.TimestampType{Unit: unit, TimeZone: "Europe/Berlin"}, `"2026-01-02 03:04:05Z",null`)
	}
	add(arrow.FixedWidthTypes.Date32, `"2026-01-02",null,"1815-12-10"`)
	add(arrow.FixedWidthTypes.Date64, `"2026-01-02",null,"1815-12-10"`)
	add(&arrow.Decimal128Type{Precision: 5, Scale: 2}, `"1.25",null,"-3.00"`)
	add(&arrow.Decimal128Type{Precision: 38, Scale: 2}, `"123456789012345678.25",null`)
	add(arrow.BinaryTypes.String, `"a","",null,"naïve"`)
	add(arrow.BinaryTypes.LargeString, `"a","",null`)
	add(arrow.BinaryTypes.Binary, `"AQID",null`)
	add(&arrow.FixedSizeBinaryType{ByteWidth: 3}, `"AQID",null`)
	add(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		`"x","y",null`)
	add(arrow.ListOf(arrow.PrimitiveTypes.Int32), `[1,null],[],null`)
	add(arrow.LargeListOf(arrow.BinaryTypes.String), `["a"],[],null`)
	add(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[1,2],[3,4]`)
	add(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}),
		`{"a":1},{"a":null},null`)
	add(arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), `[{"key":"k","value":1}],[],null`)
	add(arrow.ListOf(arrow.StructOf(arrow.Field{
		Name:     "deep",
		Type:     arrow.ListOf(arrow.FixedWidthTypes.Boolean),
		Nullable: true,
	})),
		`[{"deep":[true,null,false]},{"deep":null}],[],null`)
	ofParquet = len(all)
	add(arrow.FixedWidthTypes.Duration_s, `1,null`)
	add(arrow.FixedWidthTypes.Duration_ns, `1,null`)
	add(arrow.BinaryTypes.StringView, `"a text that is longer than a view has room for","b",null`)
	add(arrow.ListViewOf(arrow.PrimitiveTypes.Int32), `[1,2],[],null`)
	add(&arrow.Decimal32Type{Precision: 9, Scale: 1}, `"1.5",null`)
	add(arrow.FixedWidthTypes.MonthDayNanoInterval, `{"months":1,"days":2,"nanoseconds":3},null`)
	add(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `"a","a",null`)
	return all, values, ofParquet
}

const typedRows = 40

// typedBatch returns a batch with columns of these types behind an id and a text. Their values repeat.
func typedBatch(t *testing.T, fields []arrow.Field, values []string) arrow.RecordBatch {
	t.Helper()
	column := func(of arrow.DataType, value func(i int) string) arrow.Array {
		var text []string
		for i := range typedRows {
			text = append(text, value(i))
		}
		a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader("["+strings.Join(text, ",")+"]"))
		if err != nil {
			t.Fatalf("%v: %v", of, err)
		}
		return a
	}
	all := append([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {
		Name:     "text",
		Type:     arrow.BinaryTypes.String,
		Nullable: true,
	}}, fields...)
	columns := []arrow.Array{
		column(all[0].Type, func(i int) string { return fmt.Sprint(i) }),
		column(all[1].Type, func(i int) string { return fmt.Sprintf(`"cut this of %d"`, i) }),
	}
	for i, field := range fields {
		var some []json.RawMessage
		if err := json.Unmarshal([]byte("["+values[i]+"]"), &some); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, column(field.Type, func(row int) string { return string(some[row%len(some)]) }))
	}
	metadata := arrow.MetadataFrom(map[string]string{"mine": "yes"})
	return array.NewRecordBatch(arrow.NewSchema(all, &metadata), columns, typedRows)
}

// rowsOf returns rows as lines of JSON.
func rowsOf(t *testing.T, batches ...arrow.RecordBatch) (lines []string) {
	t.Helper()
	for _, batch := range batches {
		content, err := json.Marshal(batch)
		if err != nil {
			t.Fatal(err)
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(content, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			lines = append(lines, string(row))
		}
	}
	return lines
}

// checkCopies copies rows of a file in each way, and compares what is read of the copies with what is read of the file.
func checkCopies(t *testing.T, format corpus.Format, content []byte,
	read func([]byte) (*arrow.Schema, []arrow.RecordBatch),
) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in."+format.Definition().CopyEnding)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file := corpus.File{Path: path, Size: int64(len(content)), Format: format}
	schema, batches := read(content)
	all := rowsOf(t, batches...)
	keep := func(row int64) bool { return row%3 != 1 }
	var kept []string
	for i, row := range all {
		if keep(int64(i)) {
			kept = append(kept, row)
		}
	}
	annotation := func(row int64) corpus.Annotation {
		return corpus.Annotation{Cluster: "7", Size: 2, Kept: true, KeptID: ""}
	}
	for name, rows := range map[string]corpus.RowCopy{
		"unique":    {Keep: keep},
		"annotated": {Keep: keep, Annotations: &corpus.Annotations{Of: annotation, HaveIntegers: true}},
		"trimmed": {
			Keep: keep,
			Text: "text",
			Cuts: func(int64) []corpus.Cut { return []corpus.Cut{{Begin: 0, End: 9}} },
		},
	} {
		var out bytes.Buffer
		copied, err := format.Definition().CopyRows(&file, corpus.Limits{}, &out, rows)
		if err != nil || copied != int64(len(kept)) {
			t.Fatalf("%s: %d rows, %v", name, copied, err)
		}
		got, found := read(out.Bytes())
		lines := rowsOf(t, found...)
		for i := range lines {
			switch name {
			case "annotated":
				lines[i] = strings.NewReplacer(`"cluster":7,"cluster_size":2,`, "", `"kept":true,"kept_id":null,`, "",
					`,"cluster":7,"cluster_size":2,"kept":true,"kept_id":null`, "").Replace(lines[i])
			case "trimmed":
				lines[i] = strings.Replace(lines[i], `"text":"of`, `"text":"cut this of`, 1)
			}
		}
		if diff := cmp.Diff(kept, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		fields := got.Fields()
		if name == "annotated" {
			fields = fields[:len(fields)-4]
		}
		if !slices.EqualFunc(schema.Fields(), fields, arrow.Field.Equal) {
			t.Errorf("%s: the schema is %v, want %v", name, got, schema)
		}
		want, _ := schema.Metadata().GetValue("mine")
		if mine, _ := got.Metadata().GetValue("mine"); mine != want {
			t.Errorf("%s: the metadata are %v", name, got.Metadata())
		}
	}
}

// TestTypesOfParquet: values of all types, in pages of all kinds, are the same in copies, and so are their types.
func TestTypesOfParquet(t *testing.T) {
	fields, values, ofParquet := columnTypes()
	batch := typedBatch(t, fields[:ofParquet], values[:ofParquet])
	table := array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch})
	read := func(content []byte) (*arrow.Schema, []arrow.RecordBatch) {
		table, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(content), nil,
			pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		var batches []arrow.RecordBatch
		reader := array.NewTableReader(table, 7)
		for reader.Next() {
			reader.RecordBatch().Retain()
			batches = append(batches, reader.RecordBatch())
		}
		return table.Schema(), batches
	}
	codecs := compress.Codecs
	for i, codec := range []compress.Compression{
		codecs.Uncompressed, codecs.Snappy, codecs.Gzip, codecs.Brotli, codecs.Zstd, codecs.Lz4Raw,
	} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, hasDictionary := range []bool{false, true} {
				if i > 1 && hasDictionary == (version == parquet.DataPageV1) {
					continue // codecs do not look into pages
				}
				t.Run(fmt.Sprint(codec, version, hasDictionary), func(t *testing.T) {
					var b bytes.Buffer
					properties := parquet.NewWriterProperties(parquet.WithDataPageVersion(version),
						parquet.WithDictionaryDefault(hasDictionary),
						parquet.WithCompression(codec), parquet.WithEncoding(parquet.Encodings.Plain),
						parquet.WithEncodingFor(fields[0].Name, parquet.Encodings.RLE))
					err := pqarrow.WriteTable(table, &b, 16, properties,
						pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
					if err != nil {
						t.Fatal(err)
					}
					checkCopies(t, corpus.Parquet, b.Bytes(), read)
				})
			}
		}
	}
}

// TestTypesOfArrow is the same for files and streams of Arrow.
func TestTypesOfArrow(t *testing.T) {
	fields, values, _ := columnTypes()
	batch := typedBatch(t, fields, values)
	for name, options := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		for _, isFile := range []bool{false, true} {
			t.Run(fmt.Sprint(name, isFile), func(t *testing.T) {
				var b bytes.Buffer
				options := append([]ipc.Option{ipc.WithSchema(batch.Schema())}, options...)
				var writer interface {
					Write(arrow.RecordBatch) error
					Close() error
				} = ipc.NewWriter(&b, options...)
				if isFile {
					b.Reset()
					var err error
					if writer, err = ipc.NewFileWriter(&b, options...); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if err := writer.Write(batch); err != nil {
						t.Fatal(err)
					}
				}
				if err := writer.Close(); err != nil {
					t.Fatal(err)
				}
				checkCopies(t, corpus.Arrow, b.Bytes(), func(content []byte) (*arrow.Schema, []arrow.RecordBatch) {
					return readArrowOf(t, content, isFile)
				})
			})
		}
	}
}

// readArrowOf reads a file or a stream of Arrow, which it must be.
func readArrowOf(t *testing.T, content []byte, isFile bool) (*arrow.Schema, []arrow.RecordBatch) {
	t.Helper()
	var batches []arrow.RecordBatch
	if !isFile {
		reader, err := ipc.NewReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		for reader.Next() {
			reader.RecordBatch().Retain()
			batches = append(batches, reader.RecordBatch())
		}
		if err := reader.Err(); err != nil {
			t.Fatal(err)
		}
		return reader.Schema(), batches
	}
	reader, err := ipc.NewFileReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for i := range reader.NumRecords() {
		batch, err := reader.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, batch)
	}
	return reader.Schema(), batches
}
