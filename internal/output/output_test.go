package output

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestWriterWritesEveryFormat(t *testing.T) {
	for _, format := range Formats {
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

func TestRows(t *testing.T) {
	quoted := func(s string) []byte { return AppendString(nil, s) }
	for _, c := range []struct{ got, want string }{
		{string(AppendReject(nil, "a/b.jsonl", 12, `no "text"`)), `{"file":"a/b.jsonl","position":12,"error":"no \"text\""}`},
		{
			string(AppendPair(nil, Pair{A: quoted("x"), B: quoted("y"), Shared: 3, Union: 6, SizeA: 4, SizeB: 5})),
			`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.75,"containment_b":0.6,"exact":true}`,
		},
		{
			string(AppendPair(nil, Pair{A: quoted("x"), B: quoted("y"), Shared: 64, Union: 128, SizeA: 300, SizeB: 300, Estimate: true})),
			`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.6666666666666666,"containment_b":0.6666666666666666,"exact":false}`,
		},
		{
			string(AppendPair(nil, Pair{A: quoted("x"), B: quoted("y"), Identical: true})),
			`{"a":"x","b":"y","jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`,
		},
		{
			string(AppendMember(nil, Member{ID: quoted("x"), Ref: quoted("f:0"), Cluster: quoted("c"), Kept: true, Similarity: 1, Size: 2, Least: 0.8125, Mean: 0.90625})),
			`{"cluster":"c","id":"x","ref":"f:0","kept":true,"similarity":1,"size":2,"least":0.8125,"mean":0.9063}`,
		},
		{
			string(AppendRemoved(nil, Member{ID: quoted("x"), Ref: quoted("f:0"), Cluster: quoted("c"), KeptID: quoted("k"), Similarity: 0.875})),
			`{"id":"x","ref":"f:0","cluster":"c","kept_id":"k","similarity":0.875}`,
		},
	} {
		if c.got != c.want+"\n" {
			t.Errorf("row %s want %s", c.got, c.want)
		}
		if !json.Valid([]byte(c.got)) {
			t.Errorf("row %s is not JSON", c.got)
		}
	}
}
