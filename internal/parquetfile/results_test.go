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

	"mirrorbeam/internal/parquetfile"
)

// written writes rows as a file.
func written[T any](t testing.TB, rows ...T) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquetfile.NewWriter[T](&file)
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

func TestResults(t *testing.T) {
	holds(t, content{
		"cluster": cells("a", "a"), "id": cells("a", "b"), "ref": cells("x:0", "x:9"), "kept": cells("true", "false"),
		"similarity": cells("1", "0.875"), "size": cells("2", "2"), "least": cells("0.875", "0.875"),
		"mean": cells("0.875", "0.875"), "reference": cells("false", "true"),
	},
		parquetfile.Cluster{Cluster: "a", ID: "a", Ref: "x:0", Kept: true, Similarity: 1, Size: 2, Least: .875, Mean: .875},
		parquetfile.Cluster{Cluster: "a", ID: "b", Ref: "x:9", Similarity: .875, Size: 2, Least: .875, Mean: .875, Reference: true},
	)
	holds(t, content{
		"a": cells("a", "a"), "b": cells("b", "c"), "jaccard": cells("0.5", "1"), "containment_a": cells("0.6", "1"),
		"containment_b": cells("0.7", "1"), "exact": cells("true", "true"), "identical": cells("false", "true"),
		"spans.a_begin": {{"0", "5"}, {}}, "spans.a_end": {{"4", "9"}, {}}, "spans.b_begin": {{"1", "6"}, {}},
		"spans.b_end": {{"5", "10"}, {}}, "spans.words": {{"7", "8"}, {}}, "more_spans": cells("3", "0"),
	},
		parquetfile.Pair{
			A: "a", B: "b", Jaccard: .5, ContainmentA: .6, ContainmentB: .7, Exact: true, MoreSpans: 3,
			Spans: []parquetfile.Span{{0, 4, 1, 5, 7}, {5, 9, 6, 10, 8}},
		},
		parquetfile.Pair{A: "a", B: "c", Jaccard: 1, ContainmentA: 1, ContainmentB: 1, Exact: true, Identical: true},
	)
	holds(t, content{
		"a": cells("a"), "b": cells("b"), "hamming": cells("3"), "exact": cells("true"), "identical": cells("false"),
	}, parquetfile.HammingPair{A: "a", B: "b", Hamming: 3, Exact: true})
	holds(t, content{
		"id": cells("b"), "ref": cells(""), "cluster": cells("a"), "kept_id": cells("a"), "similarity": cells("0.9"),
		"reference": cells("false"),
	}, parquetfile.Removed{ID: "b", Cluster: "a", KeptID: "a", Similarity: .9})
	holds(t, content{"file": cells("x"), "position": cells("9007199254740993"), "error": cells("no text")},
		parquetfile.Reject{File: "x", Position: 1<<53 + 1, Error: "no text"})
	holds(t, content{
		"id": cells("b"), "ref": cells("r"), "shingles": cells("2"), "simhash": cells("00ff"),
		"fingerprint": {{"1", strconv.Itoa(1<<48 - 1)}},
	}, parquetfile.Sketch{ID: "b", Ref: "r", Shingles: 2, SimHash: "00ff", Fingerprint: []int64{1, 1<<48 - 1}})
	holds[parquetfile.Reject](t, content{"file": {}, "position": {}, "error": {}})
}

// TestRowGroups: row groups are bounded by rows and by bytes.
func TestRowGroups(t *testing.T) {
	rows := make([]parquetfile.Reject, 100_000)
	for i := range rows {
		rows[i].Position = int64(i)
	}
	check := func(rows []parquetfile.Reject) int {
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
	w := parquetfile.NewWriter[parquetfile.Reject](&full)
	var err error
	for i := range 200_000 {
		if err = w.Write(parquetfile.Reject{File: "x", Position: int64(i) * 7919}); err != nil {
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
