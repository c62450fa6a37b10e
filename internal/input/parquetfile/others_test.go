package parquetfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestForOthers writes files for scripts/parquetcheck.py, which reads them with pyarrow and DuckDB, into the folder
// that PARQUET_OUT names: copies of the files in testdata. Row i of a file is in third-NAME if i divided by 3 leaves 1.
func TestForOthers(t *testing.T) {
	folder := os.Getenv("PARQUET_OUT")
	if folder == "" {
		t.Skip("PARQUET_OUT is not set")
	}
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name := range expected(t) {
		file := mustOpen(t, readFile(t, name))
		var third, annotated bytes.Buffer
		if _, err := file.Copy(&third, corpus.RowCopy{Keep: func(row int64) bool { return row%3 == 1 }}); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Copy(&annotated, annotating); err != nil {
			t.Fatal(err)
		}
		write("third-"+name, third.Bytes())
		write("annotated-"+name, annotated.Bytes())
	}
}
