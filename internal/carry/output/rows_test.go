package output

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam/internal/ground/quoting"
)

// fileOf writes rows in a format and returns the path of the file.
func fileOf[T Row](t *testing.T, format Format, rows ...T) string {
	t.Helper()
	dir := t.TempDir()
	w, err := NewRows[T](dir, File{Name: "rows", Output: "rows"}, format)
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
	path := filepath.Join(dir, file.Temporary)
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
	if got := string(row.AppendJSON(nil)); got != line+"\n" || !json.Valid([]byte(got)) {
		t.Errorf("row %s want %s", got, line)
	}
	if content, err := os.ReadFile(fileOf(t, JSONL, row, row)); err != nil || string(content) != line+"\n"+line+"\n" {
		t.Errorf("rows %s (%v)", content, err)
	}
	var names []string
	for _, column := range columns {
		name, _, _ := strings.Cut(column, "=")
		names = append(names, name)
	}
	n := 0
	for cells, err := range Cells(t.Context(), fileOf(t, Parquet, row, row), names...) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		for i, cell := range cells {
			got := names[i] + "="
			for value := range cell.All() {
				got += string(value) + ";"
			}
			if got != columns[i]+";" && (cell.Len() > 0 || got != columns[i]) {
				t.Errorf("%s: %s, want %s", line, got, columns[i])
			}
		}
	}
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func TestRows(t *testing.T) {
	checkRow(t, Reject{File: "a/b.jsonl", Position: 1<<53 + 1, Error: `no "text"`},
		`{"file":"a/b.jsonl","position":9007199254740993,"error":"no \"text\""}`,
		"file=a/b.jsonl", "position=9007199254740993", `error=no "text"`)
	checkRow(t, NewPair("x", "y", Overlap{Shared: 3, Union: 6, SizeA: 4, SizeB: 5}),
		`{"a":"x","b":"y","jaccard":0.5,"containment_a":0.75,"containment_b":0.6,"exact":true}`,
		"a=x", "b=y", "jaccard=0.5", "containment_a=0.75", "containment_b=0.6", "exact=true", "identical=false", "spans.words=", "more_spans=0")
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
		"spans.a_begin=0;5", "spans.a_end=4;9", "spans.b_begin=1;6", "spans.b_end=5;10", "spans.words=7;8", "more_spans=3")
	checkRow(t, RarePair{passages, 12.625}, `{"a":"x","b":"y","jaccard":0.5,"containment_a":1,"containment_b":0.5,"exact":true,`+
		`"spans":[{"a":[0,4],"b":[1,5],"words":7},{"a":[5,9],"b":[6,10],"words":8}],"more_spans":3,"rarity":12.625}`,
		"spans.a_begin=0;5", "spans.words=7;8", "more_spans=3", "rarity=12.625")
	checkRow(t, RarePair{NewPair("x", "y", Overlap{Identical: true}), 0},
		`{"a":"x","b":"y","jaccard":1,"containment_a":1,"containment_b":1,"exact":true,"identical":true}`, "identical=true", "rarity=0")
	checkRow(t, NewHammingPair("x", "y", 3, 64), `{"a":"x","b":"y","hamming":3,"cosine":0.9892,"exact":true}`,
		"a=x", "b=y", "hamming=3", "cosine=0.9892", "exact=true", "identical=false")
	checkRow(t, NewHammingPair("x", "y", 0, 64), `{"a":"x","b":"y","hamming":0,"cosine":1,"exact":true,"identical":true}`, "hamming=0", "cosine=1", "identical=true")
	checkRow(t, Cluster{ID: "x", Ref: "f:0", Cluster: "c", Kept: true, Similarity: 1, Size: 2, Least: 0.8125, Mean: RoundMean(0.90625)},
		`{"cluster":"c","id":"x","ref":"f:0","kept":true,"similarity":1,"size":2,"least":0.8125,"mean":0.9063}`,
		"cluster=c", "id=x", "ref=f:0", "kept=true", "similarity=1", "size=2", "least=0.8125", "mean=0.9063", "reference=false")
	checkRow(t, Cluster{Reference: true},
		`{"cluster":"","id":"","ref":"","kept":false,"similarity":0,"size":0,"least":0,"mean":0,"reference":true}`, "cluster=", "reference=true")
	checkRow(t, Removal{ID: "x", Ref: "f:0", Cluster: "c", KeptID: "k", Similarity: 0.875},
		`{"id":"x","ref":"f:0","cluster":"c","kept_id":"k","similarity":0.875}`,
		"id=x", "ref=f:0", "cluster=c", "kept_id=k", "similarity=0.875", "reference=false")
	checkRow(t, Change{Of: Clusters, Change: Merged, Lineage: "5d", Name: "x", Size: 5, Before: 4, Added: 2, Removed: 1, Previous: []string{"5d", "6e"}, Generation: 9, Since: 7},
		`{"of":"clusters","change":"merged","lineage":"5d","name":"x","size":5,"before":4,"added":2,"removed":1,"previous":["5d","6e"],"generation":9,"since":7}`,
		"of=clusters", "change=merged", "lineage=5d", "name=x", "size=5", "before=4", "added=2", "removed=1", "previous=5d;6e", "generation=9", "since=7")
	checkRow(t, Change{Of: Clusters, Change: New, Lineage: "5d", Name: "x", Size: 2, Added: 2},
		`{"of":"clusters","change":"new","lineage":"5d","name":"x","size":2,"before":0,"added":2,"removed":0,"generation":0,"since":0}`, "change=new", "previous=")
	checkRow(t, Passage{Documents: 70, LeftOut: "common", Tokens: 12, Text: "a\u009b\"", ID: "x", Ref: "f:0", Field: "title", Begin: 3, End: 9},
		`{"documents":70,"left_out":"common","tokens":12,"text":"a\u009b\"","id":"x","ref":"f:0","field":"title","begin":3,"end":9}`,
		"documents=70", "left_out=common", "tokens=12", "text=a\u009b\"", "id=x", "ref=f:0", "field=title", "begin=3", "end=9")
	checkRow(t, Passage{Documents: 7, Tokens: 10, Text: "a", ID: "x", Ref: "f:0", End: 9},
		`{"documents":7,"tokens":10,"text":"a","id":"x","ref":"f:0","begin":0,"end":9}`, "left_out=", "field=")
	checkRow(t, Sketch{ID: "é", Ref: "r", Shingles: 2, SimHash: SimHashText([]uint64{0xab, 1 << 63}, 128), Fingerprint: []int64{1, 1<<48 - 1}},
		`{"id":"é","ref":"r","shingles":2,"simhash":"800000000000000000000000000000ab","fingerprint":[1,281474976710655]}`,
		"id=é", "ref=r", "shingles=2", "simhash=800000000000000000000000000000ab", "fingerprint=1;281474976710655")
}

// FuzzReject: a row of rejects, which is JSON until it is written, is read back as it was.
func FuzzReject(f *testing.F) {
	f.Add("a.jsonl", int64(7), "no \"text\"\xff \u2028\ufffdab")
	f.Fuzz(func(t *testing.T, file string, position int64, fault string) {
		want := Reject{File: quoting.Text(file), Position: position, Error: quoting.Text(fault)}
		var got Reject
		if err := json.Unmarshal(want.AppendJSON(nil), &got); err != nil || got != want {
			t.Errorf("%+v is read back as %+v (%v)", want, got, err)
		}
	})
}

// TestCellsOfNoFile: what cannot be read is an error that names the file.
func TestCellsOfNoFile(t *testing.T) {
	lines, rows := fileOf(t, JSONL, Reject{}), fileOf(t, Parquet, Reject{})
	for path, column := range map[string]string{lines: "file", rows: "name", filepath.Join(t.TempDir(), "none"): "file"} {
		faults := 0
		for cells, err := range Cells(t.Context(), path, column) {
			if err == nil || cells != nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, %v", path, cells, err)
			}
			faults++
		}
		if faults != 1 {
			t.Errorf("%s: %d errors", path, faults)
		}
	}
}

// BenchmarkRows writes rows of clusters. Its figure is nanoseconds a row.
func BenchmarkRows(b *testing.B) {
	for _, format := range []Format{JSONL, JSONLZstd, Parquet} {
		b.Run(string(format), func(b *testing.B) {
			w, err := NewRows[Cluster](b.TempDir(), File{Name: "rows", Output: "rows"}, format)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Abort()
			i := 0
			for b.Loop() {
				name := fmt.Sprintf("document-%09d", i)
				if err := w.Write(Cluster{Cluster: name[:len(name)-1], ID: name, Ref: name, Kept: i%3 == 0, Similarity: float64(i%1000) / 1000, Size: 10}); err != nil {
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
