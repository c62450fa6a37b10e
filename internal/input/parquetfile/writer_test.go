package parquetfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/input/parquetfile"
)

// written writes rows as a file.
func written[T any](t testing.TB, rows ...T) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquetfile.NewWriter[T](&file, parquetfile.Table{Name: "rows"})
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// holds compares a file with what it must hold, and with a second file of the same rows.
func holds[T any](t *testing.T, want content, rows ...T) {
	t.Helper()
	data := written(t, rows...)
	got, err := contentOf(mustOpen(t, data), 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if !bytes.Equal(data, written(t, rows...)) {
		t.Error("the same rows give other bytes")
	}
}

func cells(values ...string) [][]string {
	rows := make([][]string, len(values))
	for i, value := range values {
		rows[i] = []string{value}
	}
	return rows
}

// reject is a row of the tests.
type reject struct {
	File     string `parquet:"file,dict"`
	Position int64  `parquet:"position"`
	Error    string `parquet:"error,dict"`
	Spans    []span `parquet:"spans,list"`
}

type span struct {
	Begin int64 `parquet:"begin"`
	End   int64 `parquet:"end"`
}

func TestWriter(t *testing.T) {
	holds(t, content{
		"file": cells("x", "x"), "position": cells("9007199254740993", "-1"), "error": cells("no text", ""),
		"spans.begin": {{"0", "5"}, {}}, "spans.end": {{"4", "9"}, {}},
	},
		reject{File: "x", Position: 1<<53 + 1, Error: "no text", Spans: []span{{0, 4}, {5, 9}}}, reject{
			File:     "x",
			Position: -1,
		})
	holds[reject](t, content{"file": {}, "position": {}, "error": {}, "spans.begin": {}, "spans.end": {}})
}

// TestRowGroups: row groups are bounded by rows and by bytes.
func TestRowGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand rows, one after the other")
	}
	rows := make([]reject, 100_000)
	for i := range rows {
		rows[i].Position = int64(i)
	}
	check := func(rows []reject) int {
		t.Helper()
		file, next := mustOpen(t, written(t, rows...)), 0
		columns, err := file.Columns("position")
		if err != nil {
			t.Fatal(err)
		}
		for group, g := range file.Groups() {
			if g.Rows > 1<<16 {
				t.Errorf("%d rows in a row group", g.Rows)
			}
			cursor := columns.Read(group)
			for {
				buffer, err := cursor.Append(nil, 1<<20)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range parquetfile.Rows(buffer, 1) {
					if value, _ := row[0].Value(); string(value) != strconv.Itoa(next) {
						t.Fatalf("position %s, want %d", value, next)
					}
					next++
				}
			}
			cursor.Close()
		}
		if next != len(rows) {
			t.Errorf("%d rows, want %d", next, len(rows))
		}
		return len(file.Groups())
	}
	if groups := check(rows); groups != 2 {
		t.Errorf("%d row groups of 100,000 short rows, want 2", groups)
	}
	long := rows[:300]
	for i := range long {
		// It must not compress well: the bound is of what is written.
		var text strings.Builder
		for j := range 1 << 15 {
			fmt.Fprintf(&text, "%x", math.Float64bits(math.Sin(float64(i<<15+j))))
		}
		long[i].Error = text.String()
	}
	if groups := check(long); groups < 2 {
		t.Errorf("%d row groups of 150 MB, want more", groups)
	}
}

// TestWriterFails: an error of the destination is not lost.
func TestWriterFails(t *testing.T) {
	full := failing(100)
	w := parquetfile.NewWriter[reject](&full, parquetfile.Table{Name: "rows"})
	var err error
	for i := range 200_000 {
		if err = w.Write(reject{File: "x", Position: int64(i) * 7919}); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Close()
	}
	if !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
