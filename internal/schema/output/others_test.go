package output

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestForOthers writes rows for scripts/parquetcheck.py, which reads them with pyarrow and DuckDB, into the folder that
// PARQUET_OUT names: NAME.parquet, and NAME.json with what it must have.
func TestForOthers(t *testing.T) {
	folder := os.Getenv("PARQUET_OUT")
	if folder == "" {
		t.Skip("PARQUET_OUT is not set")
	}
	writeResults(t, func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	})
}

// object is a row as JSON.
type object map[string]any

// results writes rows, and what they are as JSON.
func results[T Row](t *testing.T, write func(string, []byte), name string, count int, row func(int) (T, object)) {
	t.Helper()
	rows, objects := make([]T, count), make([]object, count)
	for i := range rows {
		rows[i], objects[i] = row(i)
	}
	text, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	write(name+".parquet", parquetOf(t, rows...))
	write(name+".json", text)
}

func writeResults(t *testing.T, write func(string, []byte)) {
	const many = 70_000 // more than a row group
	id := func(i int) string { return fmt.Sprintf("doc-é-%06d", i) }
	results(t, write, "clusters", many, func(i int) (Member, object) {
		row := Member{
			Cluster:    id(i / 2),
			ID:         id(i),
			Ref:        "x:1",
			Kept:       i%2 == 0,
			Similarity: .875,
			Size:       2,
			Least:      .5,
			Mean:       .75,
			Reference:  i%3 == 0,
		}
		return row, object{
			"cluster":    id(i / 2),
			"id":         id(i),
			"ref":        "x:1",
			"kept":       i%2 == 0,
			"similarity": .875,
			"size":       2,
			"least":      .5,
			"mean":       .75,
			"reference":  i%3 == 0,
		}
	})
	results(t, write, "pairs", 1000, func(i int) (Pair, object) {
		row := Pair{
			A:            id(i / 3),
			B:            id(i),
			Jaccard:      .1,
			ContainmentA: .2,
			ContainmentB: .3,
			Exact:        true,
			MoreSpans:    int64(i),
		}
		spans := []object{}
		for j := range int64(i % 3) {
			row.Spans = append(row.Spans, Span{ABegin: j, AEnd: j + 9, BBegin: 2 * j, BEnd: 2*j + 9, Words: 3})
			spans = append(spans, object{"a_begin": j, "a_end": j + 9, "b_begin": 2 * j, "b_end": 2*j + 9, "words": 3})
		}
		return row, object{
			"a":             row.A,
			"b":             row.B,
			"jaccard":       .1,
			"containment_a": .2,
			"containment_b": .3,
			"exact":         true,
			"identical":     false,
			"spans":         spans,
			"more_spans":    i,
		}
	})
	results(t, write, "hamming", 10, func(i int) (Pair, object) {
		return Pair{
				A:         id(i),
				B:         id(i + 1),
				Hamming:   int64(i),
				Cosine:    -.5,
				Exact:     true,
				Identical: i == 0,
				Kind:      HammingPair,
			},
			object{"a": id(i), "b": id(i + 1), "hamming": i, "cosine": -.5, "exact": true, "identical": i == 0}
	})
	results(t, write, "removed", 10, func(i int) (Removal, object) {
		return Removal{ID: id(i), Ref: "", Cluster: "c", KeptID: "k", Similarity: 1, Reference: true},
			object{"id": id(i), "ref": "", "cluster": "c", "kept_id": "k", "similarity": 1, "reference": true}
	})
	results(t, write, "rejects", 0, func(int) (Reject, object) { return Reject{}, nil })
	results(t, write, "sketches", 100, func(i int) (Sketch, object) {
		hashes := make([]int64, i)
		for j := range hashes {
			hashes[j] = int64(j+1) << 40
		}
		return Sketch{ID: id(i), Ref: "r", Shingles: int64(i), SimHash: "00ff", Fingerprint: hashes},
			object{"id": id(i), "ref": "r", "shingles": i, "simhash": "00ff", "fingerprint": hashes}
	})
}
