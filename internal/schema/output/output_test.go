package output

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestWriterWritesEveryFormat(t *testing.T) {
	for _, format := range []Format{JSONL, JSONLZstd, JSONLGzip} {
		dir := t.TempDir()
		w, err := NewWriter(dir, File{Name: "rows-00000-of-00001." + string(format), Output: "rows"}, format)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for range 3 {
			if err := w.Row([]byte("{}\n")); err != nil {
				t.Fatal(err)
			}
		}
		file, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, file.Temporary))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if info, _ := f.Stat(); info.Size() != file.Bytes || file.Rows != 3 {
			t.Errorf("%s: says %d rows, %d bytes, the file has %d", format, file.Rows, file.Bytes, info.Size())
		}
		var r io.Reader = f
		switch format {
		case JSONLZstd:
			d, err := zstd.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			r = d
		case JSONLGzip:
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != "{}\n{}\n{}\n" {
			t.Errorf("%s: reads back %q, %v", format, b, err)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w, err := NewWriter(dir, File{Name: "rows", Output: "rows"}, JSONLZstd)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
