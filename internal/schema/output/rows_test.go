package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/parquetfile"
)

// fileOf writes rows in a format and returns the path of the file.
func fileOf[T Row](t *testing.T, format Format, rows ...T) string {
	t.Helper()
	dir := t.TempDir()
	of := parquetfile.Table{Name: "rows"}
	if pair, is := any(*new(T)).(Pair); is && len(rows) > 0 {
		pair = any(rows[0]).(Pair)
		of = tables[pair.Kind]
	}
	w, err := newRows[T](dir, File{Name: "rows", Output: "rows"}, format, Names{HaveURLs: true}, of)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	file, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "rows."+string(format))
	if err := os.Rename(filepath.Join(dir, file.Temporary), path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != file.Bytes || file.Rows != int64(len(rows)) {
		t.Errorf("%s: says %d rows, %d bytes (%v)", format, file.Rows, file.Bytes, err)
	}
	return path
}

// parquetOf returns rows as a Parquet file.
func parquetOf[T Row](t *testing.T, rows ...T) []byte {
	t.Helper()
	content, err := os.ReadFile(fileOf(t, Parquet, rows...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// checkRow checks a row as JSON, and some of its columns in Parquet: each as NAME=VALUES.
func checkRow[T Row](t *testing.T, row T, line string, columns ...string) {
	t.Helper()
	if got := string(AppendRow(nil, row)); got != line+"\n" || !json.Valid([]byte(got)) {
		t.Errorf("row %s want %s", got, line)
	}
	if content, err := os.ReadFile(fileOf(t, JSONL, row, row)); err != nil || string(content) != line+"\n"+line+"\n" {
		t.Errorf("rows %s (%v)", content, err)
	}
	checkRead(t, row)
	var names []string
	for _, column := range columns {
		name, _, _ := strings.Cut(column, "=")
		names = append(names, name)
	}
	n := 0
	eachCells(t, fileOf(t, Parquet, row, row), names, func(cells []parquetfile.Cell) {
		n++
		for i, cell := range cells {
			got := names[i] + "="
			for value := range cell.All() {
				got += strings.TrimSuffix(string(value), ".0") + ";" // a share of 1 is a float in Parquet
			}
			if got != columns[i]+";" && (cell.Len() > 0 || got != columns[i]) {
				t.Errorf("%s: %s, want %s", line, got, columns[i])
			}
		}
	})
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

// eachCells visits columns of the rows of a file.
func eachCells(t *testing.T, path string, names []string, visit func([]parquetfile.Cell)) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquetfile.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	columns, err := file.Columns(names...)
	if err != nil {
		t.Fatal(err)
	}
	cursor := columns.Read(0)
	defer cursor.Close()
	buffer, err := cursor.Append(nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range parquetfile.Rows(buffer, len(names)) {
		visit(cells)
	}
}

// checkRead checks that a row is read back as it was, from each format.
func checkRead[T Row](t *testing.T, row T) {
	t.Helper()
	written := row
	if kind := reflect.ValueOf(&row).Elem().FieldByName("Kind"); kind.IsValid() &&
		reflect.TypeFor[T]() == reflect.TypeFor[Pair]() {
		kind.SetString("")
	}
	for _, format := range Formats {
		n := 0
		for got, err := range Read[T](t.Context(), fileOf(t, format, written, written), "rows", nil) {
			if err != nil {
				t.Fatal(err)
			}
			// A list without elements may be nil.
			if n++; string(AppendRow(nil, got)) != string(AppendRow(nil, row)) || fmt.Sprint(got) != fmt.Sprint(row) {
				t.Errorf("%s: %+v is read back as %+v", format, row, got)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d rows, want 2", format, n)
		}
	}
}

func TestRows(t *testing.T) {
	checkRow(t, Reject{File: "a/b.jsonl", Position: 1<<53 + 1, Error: `no "text"`},
		`{"file":"a/b.jsonl","position":9007199254740993,"error":"no \"text\""}`,
		"file=a/b.jsonl", "position=9007199254740993", `error=no "text"`)
	checkRow(t, NewPair("x", "y", Overlap{Shared: 3, Union: 6, SizeA: 4, SizeB: 5}),
		`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.75,"containment_b":0.6,"exact":true}`,
		"a=x", "b=y", "jaccard=0.5", "containment_a=0.75", "containment_b=0.6", "exact=true", "identical=false",
		"spans.words=", "more_spans=0")
	checkRow(t, NewPair("x", "y", Overlap{Shared: 64, Union: 128, SizeA: 300, SizeB: 300, Estimate: true}),
		`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.6666666666666666,"containment_b":0.6666666666666666,"exact":false}`,
		"exact=false", "containment_b=0.6666666666666666")
	checkRow(t, NewPair("x", "y", Overlap{Identical: true}),
		`{"a":"x","b":"y","jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`,
		"jaccard=1", "containment_a=1", "containment_b=1", "exact=true", "identical=true")
	passages := NewPair("x", "y", Overlap{Shared: 1, Union: 2, SizeA: 1, SizeB: 2})
	passages.Spans, passages.MoreSpans = []Span{{0, 4, 1, 5, 7}, {5, 9, 6, 10, 8}}, 3
	checkRow(t, passages, `{"a":"x","b":"y","jaccard":0.5,"containment_a":1,"containment_b":0.5,"exact":true,`+
		`"spans":[{"a":[0,4],"b":[1,5],"words":7},{"a":[5,9],"b":[6,10],"words":8}],"more_spans":3}`,
		"spans.a_begin=0;5", "spans.a_end=4;9", "spans.b_begin=1;6", "spans.b_end=5;10", "spans.words=7;8",
		"more_spans=3")
	passages.Kind, passages.Rarity = RarePair, 12.625
	checkRow(t, passages, `{"a":"x","b":"y","jaccard":0.5,"containment_a":1,"containment_b":0.5,"exact":true,`+
		`"spans":[{"a":[0,4],"b":[1,5],"words":7},{"a":[5,9],"b":[6,10],"words":8}],"more_spans":3,"rarity":12.625}`,
		"spans.a_begin=0;5", "spans.words=7;8", "more_spans=3", "rarity=12.625")
	rare := NewPair("x", "y", Overlap{Identical: true})
	rare.Kind = RarePair
	checkRow(t, rare,
		`{"a":"x","b":"y","jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`,
		"identical=true", "rarity=0")
	partial := NewPair("x", "y", Overlap{Shared: 3, Union: 6, SizeA: 4, SizeB: 5})
	partial.Kind, partial.JaccardWhole = PartialPair, 0.25
	checkRow(t, partial,
		`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.75,"containment_b":0.6,"jaccard_whole":0.25,"exact":true}`,
		"jaccard=0.5", "jaccard_whole=0.25", "exact=true")
	checkRow(t, NewHammingPair("x", "y", 3, 64), `{"a":"x","b":"y","hamming":3,"cosine":0.9892,"exact":true}`,
		"a=x", "b=y", "hamming=3", "cosine=0.9892", "exact=true", "identical=false")
	checkRow(t, NewHammingPair("x", "y", 0, 64),
		`{"a":"x","b":"y","hamming":0,"cosine":1,"exact":true,"identical":true}`, "hamming=0", "cosine=1",
		"identical=true")
	checkRow(t, Member{
		ID:         "x",
		Ref:        "f:0",
		Cluster:    "c",
		Kept:       true,
		Similarity: 1,
		Size:       2,
		Least:      0.8125,
		Mean:       RoundMean(0.90625),
	},
		`{"cluster":"c","id":"x","ref":"f:0","kept":true,"similarity":1,"size":2,"least":0.8125,"mean":0.9063}`,
		"cluster=c", "id=x", "ref=f:0", "kept=true", "similarity=1", "size=2", "least=0.8125", "mean=0.9063",
		"reference=false")
	checkRow(t, Member{Reference: true},
		`{"cluster":"","id":"","ref":"","kept":false,"similarity":0,"size":0,"least":0,"mean":0,"reference":true}`,
		"cluster=", "reference=true")
	checkRow(t, Removal{ID: "x", Ref: "f:0", Cluster: "c", KeptID: "k", Similarity: 0.875},
		`{"id":"x","ref":"f:0","cluster":"c","kept_id":"k","similarity":0.875}`,
		"id=x", "ref=f:0", "cluster=c", "kept_id=k", "similarity=0.875", "reference=false")
	checkRow(t, Change{
		Of:         Clusters,
		Change:     Merged,
		Lineage:    "5d",
		Name:       "x",
		Size:       5,
		Before:     4,
		Added:      2,
		Removed:    1,
		Previous:   []string{"5d", "6e"},
		Generation: 9,
		Since:      7,
	},
		`{"of":"clusters","change":"merged","lineage":"5d","name":"x","size":5,"before":4,"added":2,"removed":1,"previous":["5d","6e"],"generation":9,"since":7}`,
		"of=clusters", "change=merged", "lineage=5d", "name=x", "size=5", "before=4", "added=2", "removed=1",
		"previous=5d;6e", "generation=9", "since=7")
	checkRow(t, Change{Of: Clusters, Change: New, Lineage: "5d", Name: "x", Size: 2, Added: 2},
		`{"of":"clusters","change":"new","lineage":"5d","name":"x","size":2,"before":0,"added":2,"removed":0,"generation":0,"since":0}`, "change=new", "previous=")
	checkRow(t, Sketch{
		ID:          "é",
		Ref:         "r",
		Shingles:    2,
		SimHash:     SimHashText([]uint64{0xab, 1 << 63}, 128),
		Fingerprint: []int64{1, 1<<48 - 1},
	},
		`{"id":"é","ref":"r","shingles":2,"simhash":"800000000000000000000000000000ab","fingerprint":[1,281474976710655]}`,
		"id=é", "ref=r", "shingles=2", "simhash=800000000000000000000000000000ab", "fingerprint=1;281474976710655")
}

// TestReadsNoFile: what cannot be read is an error that names the file.
func TestReadsNoFile(t *testing.T) {
	noRow := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(noRow, []byte(`{"position":"x"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		noRow, fileOf(t, Parquet, Cut{}), filepath.Join(t.TempDir(), "none"),
		filepath.Join(t.TempDir(), "none.parquet"),
	} {
		faults := 0
		for row, err := range Read[Reject](t.Context(), path, "rejects", nil) {
			if err == nil || row != (Reject{}) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, %v", path, row, err)
			}
			faults++
		}
		if faults != 1 {
			t.Errorf("%s: %d errors", path, faults)
		}
	}
}

// TestReadsListsOfDifferentLengths: columns that say different things of a list are an error.
func TestReadsListsOfDifferentLengths(t *testing.T) {
	list := reflect.ValueOf(&[]string{"y", "z"}).Elem()
	if err := setList(list, parquetfile.Cell{}, false, func(element reflect.Value) reflect.Value {
		return element
	}); err == nil {
		t.Error("a list of two values has a column of none")
	}
}

// BenchmarkRows writes rows of clusters. Its figure is nanoseconds a row.
func BenchmarkRows(b *testing.B) {
	for _, format := range []Format{JSONL, JSONLZstd, Parquet} {
		b.Run(string(format), func(b *testing.B) {
			w, err := NewRows[Member](b.TempDir(), File{Name: "rows", Output: "rows"}, format, Names{})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Abort()
			i := 0
			for b.Loop() {
				name := fmt.Sprintf("document-%09d", i)
				if err := w.Write(Member{
					Cluster:    name[:len(name)-1],
					ID:         name,
					Ref:        name,
					Kept:       i%3 == 0,
					Similarity: float64(i%1000) / 1000,
					Size:       10,
				}); err != nil {
					b.Fatal(err)
				}
				i++
			}
			if _, err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
