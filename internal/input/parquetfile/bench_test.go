package parquetfile_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

// benchFile is a Parquet file with columns id and text among others, such as scripts/parquetcheck.py makes of a corpus
// (--make). Without one a file of testdata is read, which is too small to tell speeds.
func benchFile(b *testing.B) []byte {
	if name := os.Getenv("PARQUET_BENCH"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	return readFile(b, "zstd-v2.parquet")
}

// BenchmarkRead reads id and text. Its figure is the bytes of their values in a second, on one core.
func BenchmarkRead(b *testing.B) {
	data := benchFile(b)
	var buffer []byte
	for b.Loop() {
		file := mustOpen(b, data)
		columns, err := file.Columns("id", "text")
		if err != nil {
			b.Fatal(err)
		}
		sum := 0
		for group := range file.Groups() {
			cursor := columns.Read(group)
			for {
				var err error
				if buffer, err = cursor.Append(buffer[:0], 512<<10); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
				for _, cells := range parquetfile.Rows(buffer, 2) {
					for _, cell := range cells {
						value, _ := cell.Value()
						sum += len(value)
					}
				}
			}
			cursor.Close()
		}
		b.SetBytes(int64(sum))
	}
}

// BenchmarkLibrary is the library's own loop over pages.
func BenchmarkLibrary(b *testing.B) {
	data := benchFile(b)
	values := make([]parquet.Value, 256)
	for b.Loop() {
		file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)),
			parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<20))
		if err != nil {
			b.Fatal(err)
		}
		sum := 0
		for _, group := range file.RowGroups() {
			for _, name := range []string{"id", "text"} {
				leaf, _ := file.Schema().Lookup(name)
				pages := group.ColumnChunks()[leaf.ColumnIndex].Pages()
				for {
					page, err := pages.ReadPage()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					for reader := page.Values(); ; {
						n, err := reader.ReadValues(values)
						for _, value := range values[:n] {
							if !value.IsNull() {
								sum += len(value.ByteArray())
							}
						}
						if err != nil {
							break
						}
					}
					parquet.Release(page)
				}
				pages.Close()
			}
		}
		b.SetBytes(int64(sum))
	}
}

// BenchmarkCopy copies two rows of three with all columns. Its figure is the bytes of the file in a second.
func BenchmarkCopy(b *testing.B) {
	data := benchFile(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		rows := corpus.RowCopy{Keep: func(row int64) bool { return row%3 != 0 }}
		if _, err := mustOpen(b, data).Copy(io.Discard, rows); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite writes rows of rejects. Its figure is the bytes of the file in a second.
func BenchmarkWrite(b *testing.B) {
	rows := make([]reject, 100_000)
	for i := range rows {
		name := "doc-" + string(rune('a'+i%26))
		rows[i] = reject{File: name, Position: int64(i), Error: name}
	}
	b.SetBytes(int64(len(written(b, rows...))))
	for b.Loop() {
		written(b, rows...)
	}
}
