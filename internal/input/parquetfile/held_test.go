package parquetfile_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

// largeRow is a row of a file that large returns.
type largeRow struct {
	Text string   `parquet:"text,zstd"`
	List []string `parquet:"list,dict"`
}

// large returns a file of rows, with one page for each column.
func large(t *testing.T, rows ...largeRow) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[largeRow](&b, parquet.PageBufferSize(1<<30), parquet.SkipPageBounds("text"),
		parquet.DataPageStatistics(false))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPagesAreBounded: a page that takes more memory than the limit ends the reading before it is decompressed, by what
// its header says. A large page needs a right.
func TestPagesAreBounded(t *testing.T) {
	const size = 8 << 20
	data := large(t, largeRow{Text: strings.Repeat("a", size)})
	if len(data) > 1<<20 {
		t.Fatalf("the file has %d bytes", len(data))
	}
	for _, test := range []struct {
		limit int64
		good  bool
	}{{0, true}, {2 * size, false}, {4 * size, true}} {
		held, asked := 0, 0
		hold := func() (func(), error) {
			held, asked = held+1, asked+1
			return func() { held-- }, nil
		}
		file := mustOpen(t, data)
		file.Limit(test.limit, hold)
		for range 2 { // what one reader held does not count for the next
			_, err := contentOf(file, 1, "text")
			page, isPage := errors.AsType[*parquetfile.PageError](err)
			if isPage == test.good || test.good && err != nil {
				t.Errorf("limit %d: %v", test.limit, err)
			}
			if isPage && (page.Column != "text" || page.Bytes <= test.limit || page.Limit != test.limit) {
				t.Errorf("limit %d: %+v", test.limit, page)
			}
		}
		if test.good != (asked == 2) || held != 0 {
			t.Errorf("limit %d: asked %d times for the right, and holds it %d times", test.limit, asked, held)
		}
		file.Limit(test.limit, hold)
		_, err := file.Copy(io.Discard, corpus.RowCopy{Keep: func(int64) bool { return true }})
		if _, isPage := errors.AsType[*parquetfile.PageError](err); isPage == test.good || test.good && err != nil {
			t.Errorf("limit %d: copied with %v", test.limit, err)
		}
	}
	fault := errors.New("no more waiting")
	file := mustOpen(t, data)
	file.Limit(0, func() (func(), error) { return nil, fault })
	if _, err := contentOf(file, 1, "text"); !errors.Is(err, fault) || errors.As(err, new(*parquetfile.GroupError)) {
		t.Errorf("who waits in vain gets %v", err)
	}
}

// TestLongListIsPassedOver: a row of lists that is too long is told by its number, and the rows around it are read.
func TestLongListIsPassedOver(t *testing.T) {
	many := slices.Repeat([]string{strings.Repeat("b", 1000)}, 1000) // the dictionary of its page has one of them
	file := mustOpen(t,
		large(t, largeRow{"first", []string{"x"}}, largeRow{"second", many}, largeRow{"third", []string{"y", "z"}}))
	file.Limit(1_000_000, nil)
	columns, err := file.Columns("list", "text")
	if err != nil {
		t.Fatal(err)
	}
	cursor := columns.Read(0)
	defer cursor.Close()
	var texts []string
	var long []*parquetfile.RowError
	for {
		buffer, err := cursor.Append(nil, 1<<20)
		if one, is := errors.AsType[*parquetfile.RowError](err); is {
			long = append(long, one)
			continue
		}
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, cells := range parquetfile.Rows(buffer, 2) {
			text, _ := cells[1].Value()
			texts = append(texts, string(text))
		}
	}
	if strings.Join(texts, " ") != "first third" || len(long) != 1 || long[0].Row != 1 || long[0].Bytes < 1_000_000 {
		t.Errorf("read %q, long %+v", texts, long)
	}
}
