package corpus

import (
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
)

// TestAssignSources: the reference and the input have sources of their own, and the files of a group have theirs.
func TestAssignSources(t *testing.T) {
	files := []File{
		{Path: "/known/x.jsonl", Reference: true},
		{Path: "/in/caf\xe9.jsonl", Size: 5},
		{Format: Text, Members: []File{
			{Path: "/in/a/1.txt", Format: Text}, {Path: "/in/b/1.txt", Format: Text}, {
				Path:   "/in/a/2.txt",
				Format: Text,
			},
		}},
	}
	got := AssignSources(files)
	want := []sources.Source{
		{Name: "x.jsonl", Files: 1, Reference: true},
		{Name: "a", Files: 2},
		{Name: "b", Files: 1},
		{Name: "caf\ufffde9.jsonl", Files: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sources %+v, want %+v", got, want)
	}
	var at []sources.Number
	for i, positions := range []int64{1, 1, 3} {
		for position := range positions {
			at = append(at, files[i].SourceAt(position))
		}
	}
	if want := []sources.Number{0, 3, 1, 2, 1}; !reflect.DeepEqual(at, want) {
		t.Errorf("documents are of the sources %v, want %v", at, want)
	}
}
