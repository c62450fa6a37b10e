package webtext

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"

	"mirrorbeam.dev/internal/input/warc"
	"mirrorbeam.dev/internal/util/corporatest"
)

// realPages returns the documents of the shared archives that are stored in gzip, in the order of their names.
func realPages(t testing.TB) []Page {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(corporatest.Path(t, "warc"), "*", "*arc.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	var pages []Page
	for _, name := range archives {
		pages = append(pages, pagesOf(t, name)...)
	}
	return pages
}

// pagesOf returns the documents of one archive.
func pagesOf(t testing.TB, name string) (pages []Page) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoded, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	const limit = 64 << 20
	reader := warc.NewReader(decoded, warc.Options{Limit: limit})
	parser := warc.Parser{Limit: limit}
	for {
		frame, err := reader.Next()
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF: // some of them are cut short
			return pages
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		case frame.Fault != "":
			continue
		}
		record, err := parser.Parse(frame.Raw)
		if err != nil || record.Use != warc.Document {
			continue
		}
		pages = append(pages, Page{
			Content:   bytes.Clone(record.Payload),
			MediaType: record.MediaType,
			Charset:   slices.Clone(record.Charset),
		})
	}
}
