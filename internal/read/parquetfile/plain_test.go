package parquetfile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/ground/racetest"
	"mirrorbeam/internal/read/parquetfile"
)

// plainRow has plain texts that are always there, that may be missing, and that are in a part which may be missing.
type plainRow struct {
	Text  string  `parquet:"text,plain,zstd"`
	Note  *string `parquet:"note,optional,plain,snappy"`
	Inner *struct {
		Name *string `parquet:"name,optional,plain"`
	} `parquet:"inner,optional"`
}

// plainRows returns rows and what their columns hold.
func plainRows(n int) (rows []plainRow, want content) {
	random, want := rand.New(rand.NewPCG(1, 2)), content{}
	for i := range n {
		row, text := plainRow{Text: strings.Repeat("x", random.IntN(40))}, fmt.Sprint("note ", i)
		cells := map[string][]string{"text": {row.Text}, "note": {}, "inner.name": {}}
		if i/30%2 == 0 || random.IntN(3) > 0 { // runs of equal levels, and packed ones
			row.Note, cells["note"] = &text, []string{text}
		}
		if random.IntN(4) > 0 {
			row.Inner = new(struct {
				Name *string `parquet:"name,optional,plain"`
			})
			if random.IntN(2) == 0 {
				row.Inner.Name, cells["inner.name"] = &text, []string{text}
			}
		}
		rows = append(rows, row)
		for name, cell := range cells {
			want[name] = append(want[name], cell)
		}
	}
	return rows, want
}

// TestPlain reads plain texts of all forms, in pages of both versions. Copies of them are the same.
func TestPlain(t *testing.T) {
	rows, want := plainRows(3000)
	for version := 1; version <= 2; version++ {
		for _, page := range []int{200, 5000, 1 << 20} {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[plainRow](&b, parquet.DataPageVersion(version), parquet.PageBufferSize(page))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := contentOf(mustOpen(t, b.Bytes()), 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("version %d, pages of %d, -want +got:\n%.1000s", version, page, diff)
			}
			var copied bytes.Buffer
			if _, err := mustOpen(t, b.Bytes()).Copy(&copied, func(int64) bool { return true }); err != nil {
				t.Fatal(err)
			}
			if got, err := contentOf(mustOpen(t, copied.Bytes()), 100); err != nil || cmp.Diff(want, got) != "" {
				t.Errorf("version %d, pages of %d: the copy differs: %v", version, page, err)
			}
		}
	}
}

// TestPlainMemory: a large page of plain texts is in memory once, besides as it is stored.
func TestPlainMemory(t *testing.T) {
	const texts, length = 200, 100_000
	var rows []plainRow
	for i := range texts {
		rows = append(rows, plainRow{Text: strings.Repeat(string(rune('a'+i%26)), length)})
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[plainRow](&b, parquet.PageBufferSize(1<<30), parquet.DataPageStatistics(false), parquet.SkipPageBounds("text"))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	columns, err := mustOpen(t, b.Bytes()).Columns("text")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cursor, read := columns.Read(0), 0
	defer cursor.Close()
	buffer := make([]byte, 0, 4*length)
	for {
		if buffer, err = cursor.Append(buffer[:0], 2*length); err != nil {
			break
		}
		for range parquetfile.Rows(buffer, 1) {
			read++
		}
	}
	runtime.ReadMemStats(&after)
	if read != texts {
		t.Errorf("%d texts, want %d: %v", read, texts, err)
	}
	// Under the race detector pools forget what they have.
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*texts*length/2 && !racetest.On {
		t.Errorf("%d bytes are allocated, a page has %d", took, texts*length)
	}
}
