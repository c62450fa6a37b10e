package parquetfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

// metadata reads the footer of a file with the library alone.
func metadata(t *testing.T, data []byte) *format.FileMetaData {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return file.Metadata()
}

// some keeps the rows of the content that keep chooses.
func some(all content, keep func(int64) bool) content {
	kept := content{}
	for path, rows := range all {
		kept[path] = [][]string{}
		for i, row := range rows {
			if keep(int64(i)) {
				kept[path] = append(kept[path], row)
			}
		}
	}
	return kept
}

// TestCopy copies parts of all files: the values are the values of the rows that are kept, and the schema, the metadata
// and the codecs are the same as in the file.
func TestCopy(t *testing.T) {
	files := expected(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for part, keep := range map[string]func(int64) bool{
			"all":   func(int64) bool { return true },
			"none":  func(int64) bool { return false },
			"third": func(row int64) bool { return row%3 == 1 },
			"end":   func(row int64) bool { return row >= 40 },
		} {
			t.Run(name+" "+part, func(t *testing.T) {
				data := readFile(t, name)
				var copied, again bytes.Buffer
				rows, err := mustOpen(t, data).Copy(&copied, corpus.RowCopy{Keep: keep})
				if err != nil {
					t.Fatal(err)
				}
				file := mustOpen(t, copied.Bytes())
				if file.Rows() != rows {
					t.Errorf("%d rows, and Copy says %d", file.Rows(), rows)
				}
				got, err := contentOf(file, 1<<10)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(some(files[name], keep), got); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
				compareFooters(t, metadata(t, data), metadata(t, copied.Bytes()))
				if _, err := mustOpen(t, data).Copy(&again, corpus.RowCopy{Keep: keep}); err != nil ||
					!bytes.Equal(copied.Bytes(), again.Bytes()) {
					t.Errorf("a second copy has other bytes, or an error: %v", err)
				}
			})
		}
	}
}

func compareFooters(t *testing.T, want, got *format.FileMetaData) {
	t.Helper()
	if diff := cmp.Diff(want.Schema, got.Schema, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.KeyValueMetadata, got.KeyValueMetadata); diff != "" {
		t.Errorf("key-value metadata (-want +got):\n%s", diff)
	}
	for i := range got.RowGroups {
		for j := range got.RowGroups[i].Columns {
			if want, got := want.RowGroups[0].Columns[j].MetaData.Type,
				got.RowGroups[i].Columns[j].MetaData.Type; want != got {
				t.Errorf("column %d is stored as %v, want %v", j, got, want)
			}
			if want, got := want.RowGroups[0].Columns[j].MetaData.Codec,
				got.RowGroups[i].Columns[j].MetaData.Codec; want != got {
				t.Errorf("column %d is compressed with %v, want %v", j, got, want)
			}
		}
	}
}

// TestCopyJoinsGroups: row groups of few rows become row groups of as many rows as the largest one had.
func TestCopyJoinsGroups(t *testing.T) {
	var copied bytes.Buffer
	if _, err := mustOpen(t, readFile(t, "groups.parquet")).Copy(&copied, corpus.RowCopy{Keep: func(row int64) bool {
		return row%5 == 0
	}}); err != nil {
		t.Fatal(err)
	}
	var rows []int64
	for _, group := range mustOpen(t, copied.Bytes()).Groups() {
		rows = append(rows, group.Rows)
	}
	if want := []int64{5, 5, 2}; !slices.Equal(rows, want) {
		t.Errorf("row groups of %d rows, want %d", rows, want)
	}
}

// TestAnnotate adds columns behind the columns of the file, which stay as they are.
func TestAnnotate(t *testing.T) {
	files := expected(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			data := readFile(t, name)
			want := content{}
			maps.Copy(want, files[name])
			file := mustOpen(t, data)
			for _, path := range []string{"cluster", "cluster_size", "kept", "kept_id"} {
				want[path] = [][]string{}
			}
			for row := range file.Rows() {
				a := annotationOf(row)
				list := func(text string) []string {
					if text == "" {
						return []string{}
					}
					return []string{text}
				}
				want["cluster"] = append(want["cluster"], list(a.Cluster))
				want["cluster_size"] = append(want["cluster_size"], []string{strconv.FormatInt(a.Size, 10)})
				want["kept"] = append(want["kept"], []string{strconv.FormatBool(a.Kept)})
				want["kept_id"] = append(want["kept_id"], list(a.KeptID))
			}
			var annotated bytes.Buffer
			if _, err := file.Copy(&annotated, annotating); err != nil {
				t.Fatal(err)
			}
			got, err := contentOf(mustOpen(t, annotated.Bytes()), 1<<10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			before, after := metadata(t, data).Schema, metadata(t, annotated.Bytes()).Schema
			if diff := cmp.Diff(before[1:], after[1:len(before)], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			_, err = mustOpen(t, annotated.Bytes()).Copy(new(bytes.Buffer), annotating)
			var refused *parquetfile.FileError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "a column cluster already") {
				t.Errorf("annotating twice: %v", err)
			}
		})
	}
}

// annotating keeps every row, and adds columns.
var annotating = corpus.RowCopy{
	Keep:        func(int64) bool { return true },
	Annotations: &corpus.Annotations{Of: annotationOf},
}

func annotationOf(row int64) corpus.Annotation {
	if row%4 == 0 {
		return corpus.Annotation{Size: 1, Kept: true}
	}
	a := corpus.Annotation{Cluster: fmt.Sprintf("c%d", row/4), Size: 3, Kept: row%4 == 1}
	if !a.Kept {
		a.KeptID = fmt.Sprintf("doc %d", row/4*4+1)
	}
	return a
}

// failing is a destination that takes a number of bytes.
type failing int

var errFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestCopyFails: an error of the destination is the error of the copy, wherever it comes.
func TestCopyFails(t *testing.T) {
	file := mustOpen(t, readFile(t, "groups.parquet"))
	var whole bytes.Buffer
	if _, err := file.Copy(&whole, corpus.RowCopy{Keep: func(int64) bool { return true }}); err != nil {
		t.Fatal(err)
	}
	for most := 0; most < whole.Len(); most += whole.Len()/200 + 1 {
		output := failing(most)
		rows := corpus.RowCopy{Keep: func(int64) bool { return true }}
		if _, err := file.Copy(&output, rows); !errors.Is(err, errFull) {
			t.Fatalf("error %v with room for %d bytes", err, most)
		}
	}
}
