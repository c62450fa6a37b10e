package documents

import (
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/docref"
)

// TestSplitOf finds the split of every document, including splits of many files and files of many splits.
func TestSplitOf(t *testing.T) {
	in := Inputs{
		Files: []corpus.File{{Name: "a", Size: 10}, {Name: "b", Size: 10}, {Name: "empty"}, {Name: "d", Size: 100}, {
			Name: "e",
			Size: 5,
		}},
		Splits: []corpus.Split{
			{{File: 0, End: 10}, {File: 1, End: 10}}, {{File: 3, End: 50}}, {{File: 3, Start: 50, End: 100}}, {{
				File: 4,
				End:  5,
			}},
		},
	}
	path := filepath.Join(t.TempDir(), "inputs.gob")
	if err := WriteInputs(path, in); err != nil {
		t.Fatal(err)
	}
	read, err := readInputs(path)
	if err != nil || !reflect.DeepEqual(*read, in) {
		t.Fatalf("inputs %+v (%v)", read, err)
	}
	starts, err := read.SplitStarts()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file     int
		position int64
		want     int
	}{
		{0, 0, 0},
		{0, 9, 0},
		{1, 0, 0},
		{1, 9, 0},
		{3, 0, 1},
		{3, 49, 1},
		{3, 50, 2},
		{3, 99, 2},
		{4, 0, 3},
		{4, docref.MaxPosition, 3},
	} {
		ref, err := docref.New(c.file, c.position)
		if err != nil {
			t.Fatal(err)
		}
		if got := SplitOf(starts, ref); got != c.want {
			t.Errorf("%s is in split %d, want %d", read.RefText(nil, ref), got, c.want)
		}
	}
	if _, err := readInputs(path + "x"); err == nil {
		t.Error("no list of inputs, yet no error")
	}
}
