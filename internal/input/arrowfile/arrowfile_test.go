package arrowfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

// row is a row: its values by column.
type row = map[string][]string

// source is a file in memory.
type source []byte

// ReadAt reads a range.
func (s source) ReadAt(b []byte, offset int64) (int, error) {
	return bytes.NewReader(s).ReadAt(b, offset)
}

// From returns the rest.
func (s source) From(offset int64) io.ReadCloser { return io.NopCloser(bytes.NewReader(s[offset:])) }

// read reads columns of a file, in pieces of at least that many bytes. It returns the rows before a fault.
func read(t testing.TB, name string, columns []string, most int64, piece int) (rows []row, err error) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(source(content), int64(len(content)), most)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	chosen, err := r.Columns(columns...)
	if err != nil {
		return nil, err
	}
	for {
		if err := r.Next(); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		values, err := r.Values(chosen)
		if err != nil {
			return rows, err
		}
		for next := int64(0); next < values.Rows(); {
			var buffer []byte
			if buffer, next, err = values.Append(nil, next, piece); err != nil {
				return rows, err
			}
			for number, cells := range parquetfile.Rows(buffer, len(columns)) {
				if number != int64(len(rows)) {
					t.Fatalf("row %d follows %d", number, len(rows))
				}
				found := row{}
				for i, cell := range cells {
					for value := range cell.All() {
						found[columns[i]] = append(found[columns[i]], string(value))
					}
				}
				rows = append(rows, found)
			}
		}
	}
}

// wanted returns the rows that pyarrow has written into the files of testdata, and the names of their columns.
func wanted(t testing.TB) (rows []row, columns []string) {
	t.Helper()
	content, err := os.ReadFile("testdata/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	return rows, slices.Sorted(maps.Keys(rows[0]))
}

// TestRead: files and streams that pyarrow has written, with and without compression, are read as it reads them, whole
// or in pieces, from the disk and as from a network.
func TestRead(t *testing.T) {
	want, columns := wanted(t)
	for _, name := range []string{"stream.arrow", "lz4.arrow", "zstd.arrow", "default.feather"} {
		for _, piece := range []int{1, 1 << 20} {
			got, err := read(t, filepath.Join("testdata", name), columns, 1<<20, piece)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d rows, %v", name, len(got), err)
			}
			for i := range want {
				for _, column := range columns {
					if !slices.Equal(got[i][column], want[i][column]) {
						t.Fatalf("%s: row %d of %s is %q, want %q", name, i, column, got[i][column], want[i][column])
					}
				}
			}
		}
	}
	if got, err := read(t, "testdata/empty.arrow", columns, 0, 1); len(got) != 0 || err != nil {
		t.Errorf("an empty stream: %v, %v", got, err)
	}
	got, err := read(t, "testdata/delta.arrow", []string{"text"}, 0, 1)
	if text := fmt.Sprint(got); err != nil ||
		text != "[map[text:[a]] map[text:[b]] map[text:[a]] map[text:[a]] map[text:[c]] map[text:[d]]]" {
		t.Errorf("a dictionary that grows: %s, %v", text, err)
	}
	got, err = read(t, "testdata/zone.arrow", []string{"time"}, 0, 1)
	if text := fmt.Sprint(got); err != nil || text != "[map[time:[2026-01-01T00:00:00.5Z]]]" {
		t.Errorf("a time with a zone: %s, %v", text, err)
	}
	got, err = read(t, "testdata/stream.arrow", []string{"nothing"}, 0, 1)
	if len(got) != len(want) || err != nil || slices.ContainsFunc(got, func(r row) bool {
		return len(r["nothing"]) > 0
	}) {
		t.Errorf("a column without values: %v, %v", got, err)
	}
}

// TestColumns: a path that leads nowhere names the columns that are there, and one whose values are not read says so.
func TestColumns(t *testing.T) {
	for path, want := range map[string]string{
		"body": `no field "body"; there are "id"`, "meta": `"meta.url"`, "meta.deep.x": `no field "meta.deep.x"`,
		"items": `there are "items.`,
	} {
		if _, err := read(t, "testdata/stream.arrow", []string{path}, 0, 1); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestMemory: a batch that takes more memory than it may is an error that says how much.
func TestMemory(t *testing.T) {
	_, err := read(t, "testdata/zstd.arrow", []string{"text"}, 1000, 1)
	if large, is := errors.AsType[*BatchError](err); !is || large.Bytes <= 1000 || large.Limit != 1000 {
		t.Errorf("%v", err)
	}
}

// TestDictionaryMemory: dictionaries count as long as they are held, and rows are counted without them.
func TestDictionaryMemory(t *testing.T) {
	all := func(r *Reader, pass func() error, columns Columns) error {
		for {
			if err := pass(); err != nil {
				return err
			}
			if columns != nil {
				if _, err := r.Values(columns); err != nil {
					return err
				}
			}
		}
	}
	open := func(memory int64) (*Reader, Columns) {
		content, err := os.ReadFile("testdata/delta.arrow")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(source(content), int64(len(content)), memory)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := r.Columns("text")
		if err != nil {
			t.Fatal(err)
		}
		return r, columns
	}
	r, columns := open(0)
	if err := all(r, r.Next, columns); err != io.EOF || r.memory.held == 0 {
		t.Errorf("%d bytes are held, %v", r.memory.held, err)
	}
	small, columns := open(r.memory.held - 1)
	if _, isLarge := errors.AsType[*BatchError](all(small, small.Next, columns)); !isLarge {
		t.Error("there is room for dictionaries that take more than they may")
	}
	if small, _ = open(1); all(small, small.Pass, nil) != io.EOF {
		t.Error("rows are not counted")
	}
}

// TestLongList: a list that a dictionary makes of few bytes is not put together if it is longer than it may be. Others
// of the batch are read.
func TestLongList(t *testing.T) {
	const length = 1000
	builder := array.NewListBuilder(memory.DefaultAllocator, &arrow.DictionaryType{
		IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String,
	})
	for _, n := range []int{39, 1} {
		builder.Append(true)
		for range n {
			if err := builder.ValueBuilder().(*array.BinaryDictionaryBuilder).AppendString(strings.Repeat("a",
				length)); err != nil {
				t.Fatal(err)
			}
		}
	}
	column := leaf{Field: parquetfile.Field{Repeated: true}}
	v := &Values{
		columns:  Columns{column},
		arrays:   []arrow.Array{builder.NewArray()},
		first:    7,
		rows:     2,
		mostList: 10 * length,
	}
	b, row, err := v.Append(nil, 0, 1)
	if long, is := errors.AsType[*parquetfile.RowError](err); !is || long.Row != 7 || row != 0 || len(b) > 0 {
		t.Errorf("%d bytes, row %d, %v", len(b), row, err)
	}
	if b, row, err = v.Append(nil, 1, 1); len(b) < length || row != 2 || err != nil {
		t.Errorf("%d bytes, row %d, %v", len(b), row, err)
	}
}

// TestCut: of a file that is cut short the rows before the cut are read, and what comes behind is an error, unless it
// is cut between two batches.
func TestCut(t *testing.T) {
	want, columns := wanted(t)
	content, err := os.ReadFile("testdata/stream.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for length := 0; length < len(content); length += 37 {
		name := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(name, content[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(t, name, columns, 0, 1<<20)
		if len(got) > len(want) || len(got) == len(want) && length < len(content)-8 ||
			!slices.Contains([]int{0, 30, 50, 80, 100}, len(got)) {
			t.Errorf("of %d bytes are read %d rows, %v", length, len(got), err)
		}
	}
}

// TestCutFile: a file has a mark of its end, and a footer. So it says that it is cut short wherever that is, and what
// to do.
func TestCutFile(t *testing.T) {
	const name = "testdata/default.feather"
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := bytes.LastIndex(content, []byte(StreamMagic+"\x00\x00\x00\x00"))
	lengths := []int{8, end}
	for length := 9; length < end; length += 97 {
		lengths = append(lengths, length)
	}
	for _, length := range lengths {
		path := filepath.Join(t.TempDir(), "cut.feather")
		if err := os.WriteFile(path, content[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, path, []string{"text"}, 0, 1<<20); !IsDamage(err) ||
			!strings.Contains(err.Error(), "cut short: copy or download it again") {
			t.Errorf("of %d bytes %d: %v", len(content), length, err)
		}
	}
}

// TestSecond: of two streams or files in one the second is not lost in silence.
func TestSecond(t *testing.T) {
	want, columns := wanted(t)
	for _, name := range []string{"stream.arrow", "default.feather"} {
		content, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, slices.Concat(content, content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, path, columns, 0, 1<<20); !IsDamage(err) ||
			len(got) != len(want) && name == "stream.arrow" || !strings.Contains(err.Error(), "to a file") {
			t.Errorf("%s: %d rows, %v", name, len(got), err)
		}
	}
}

// TestFooter: a file is read as its footer says, whatever is at its beginning: Polars has a schema there that is none.
func TestFooter(t *testing.T) {
	want, columns := wanted(t)
	content, err := os.ReadFile("testdata/default.feather")
	if err != nil {
		t.Fatal(err)
	}
	copy(content[8:], bytes.Repeat([]byte{4}, 64))
	name := filepath.Join(t.TempDir(), "in.arrow")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, name, columns, 0, 1<<20); err != nil || !slices.EqualFunc(got, want, func(a, b row) bool {
		return slices.Equal(a["text"], b["text"])
	}) {
		t.Errorf("%d rows, want %d: %v", len(got), len(want), err)
	}
}

// TestDamagedBatch: behind a batch that cannot be read, others are, with their dictionaries.
func TestDamagedBatch(t *testing.T) {
	content, err := os.ReadFile("testdata/lz4.arrow")
	if err != nil {
		t.Fatal(err)
	}
	_, columns := wanted(t)
	count := func(content []byte) (rows, lost int64, first string) {
		r, err := Open(source(content), int64(len(content)), 0)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := r.Columns(columns...)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() == nil {
			values, err := r.Values(chosen)
			if err != nil {
				if !IsDamage(err) {
					t.Fatal(err)
				}
				lost += r.Rows
				continue
			}
			b, _, err := values.Append(nil, 0, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			rows += r.Rows
			first = string(b)
		}
		return rows, lost, first
	}
	all, _, last := count(content)
	r, err := Open(source(content), int64(len(content)), 0)
	if err == nil {
		err = r.Next()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.batch.Body { // of the first batch
		content[r.body+i] = 0xff
	}
	if rows, lost, again := count(content); lost == 0 || rows+lost != all || again != last {
		t.Errorf("%d rows are read and %d lost, of %d", rows, lost, all)
	}
}

// FuzzRead: whatever a file holds, reading it ends, takes no more memory than it may, and does not panic.
func FuzzRead(f *testing.F) {
	_, columns := wanted(f)
	for _, name := range []string{"stream.arrow", "lz4.arrow", "zstd.arrow", "delta.arrow", "empty.arrow"} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		for at := 8; at < len(content); at += 509 { // as a quick test without fuzzing
			hurt := slices.Clone(content)
			hurt[at] ^= 0x55
			f.Add(hurt)
			hurt = slices.Clone(content)
			hurt[at] = 0xff
			f.Add(hurt)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, column := range append(columns, "text") {
			_, _ = read(t, name, []string{column}, 1<<20, 1<<16)
		}
		if r, err := Open(source(content), int64(len(content)), 1<<20); err == nil {
			_, _ = r.Copy(io.Discard, corpus.RowCopy{Keep: func(row int64) bool { return row%3 == 1 }})
		}
	})
}
