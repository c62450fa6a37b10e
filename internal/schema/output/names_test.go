package output

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/parquetfile"
)

// TestIntegers: names that are whole numbers are numbers in each format, and read back as they were.
func TestIntegers(t *testing.T) {
	checkIntegers(t, []string{"cluster", "id"},
		Member{Cluster: "-7", ID: "9223372036854775807", Ref: "a:1", Kept: true, Size: 2}, Member{
			Cluster: "-7",
			ID:      "0",
			Ref:     "12",
			Size:    2,
		})
	checkIntegers(t, []string{"id", "cluster", "kept_id", "like_id"}, Removal{
		ID:        "1",
		Ref:       `"`,
		Cluster:   "2",
		KeptID:    "3",
		LikeID:    "4",
		Reference: true,
	})
	checkIntegers(t, []string{"a", "b"}, Pair{
		A:            "1",
		B:            "2",
		Jaccard:      1,
		ContainmentA: 1,
		ContainmentB: 1,
		Exact:        true,
		Spans:        []Span{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 1}},
	}, Pair{A: "2", B: "3", Jaccard: .5})
	checkIntegers(t, []string{"id"}, Sketch{ID: "5", Ref: "a:1", SimHash: "00", Fingerprint: []int64{1, 2}})
	checkIntegers(t, []string{"id"}, Cut{ID: "8", Ref: "a:1", FirstRef: "12"})
	checkIntegers[Member](t, []string{"cluster", "id"}) // also a file without rows has the columns
}

func checkIntegers[T Row](t *testing.T, columns []string, rows ...T) {
	t.Helper()
	for _, format := range []Format{JSONL, JSONLZstd, Parquet} {
		folder := t.TempDir()
		w, err := NewRows[T](folder, File{Name: "rows", Output: "rows"}, format, Names{AreIntegers: true})
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
		path := filepath.Join(folder, "rows."+string(format))
		if err == nil {
			err = os.Rename(filepath.Join(folder, file.Temporary), path)
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []T
		for row, err := range Read[T](t.Context(), path, "rows", nil) {
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			got = append(got, row)
		}
		if !reflect.DeepEqual(got, rows) {
			t.Errorf("%s: %+v, want %+v", format, got, rows)
		}
		if format == Parquet {
			checkTypes(t, path, columns)
		}
	}
	for _, row := range rows {
		line := row.AppendJSON(nil, Names{AreIntegers: true})
		var plain T
		if self, is := any(&plain).(plainRow); is && self.parsePlain(line[:len(line)-1]) &&
			!reflect.DeepEqual(plain, row) {
			t.Errorf("%s: %+v, want %+v", line, plain, row)
		}
	}
}

// checkTypes checks that some columns of a file are whole numbers of 64 bits, and those alone that call documents.
func checkTypes(t *testing.T, path string, columns []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquetfile.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range columns {
		if field, err := file.Field(column); err != nil || field.Type != "int64" {
			t.Errorf("column %s is %s, want int64 (%v)", column, field.Type, err)
		}
	}
}

// TestNoInteger: the plain way to read a row takes no name for a number that is none.
func TestNoInteger(t *testing.T) {
	for _, name := range []string{"", "01", "-0", "1.0", "1e3", "9223372036854775808", "null"} {
		line := `{"cluster":` + name + `,"id":1,"ref":"a:1","kept":true,"similarity":1,"size":2,"least":1,"mean":1}`
		if new(Member).parsePlain([]byte(line)) {
			t.Errorf("%s was read", line)
		}
	}
}
