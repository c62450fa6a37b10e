package plan

import (
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
)

func TestReads(t *testing.T) {
	inputs := documents.Inputs{
		Files: []corpus.File{
			{Format: corpus.JSONLines, Size: 5, Reference: true},
			{Format: corpus.JSONLines, Size: 10},
			{Format: corpus.JSONLines, Size: 20, Compression: corpus.Zstd},
			{Format: corpus.JSONLines, Size: 11},
			{
				Format:  corpus.Text,
				Members: []corpus.File{{Format: corpus.Text, Size: 3}, {Format: corpus.Text, Size: 4}},
			},
		},
		Splits: make([]corpus.Split, 3),
	}
	want := &Reads{Splits: 3, Files: []Files{
		{Format: "jsonl", Files: 2, Bytes: 21},
		{Format: "jsonl", Compression: "zstd", Files: 1, Bytes: 20},
		{Format: "text", Files: 2, Bytes: 7},
		{Format: "jsonl", Reference: true, Files: 1, Bytes: 5},
	}}
	if got := readsOf(&inputs); !reflect.DeepEqual(got, want) {
		t.Errorf("reads %+v, want %+v", got, want)
	}
}

// TestRoomForTemp: what is free is told of a folder that is there.
func TestRoomForTemp(t *testing.T) {
	a := Advice{Chosen: -1}
	for _, test := range []struct {
		temp string
		want bool
	}{{"", false}, {t.TempDir(), true}, {filepath.Join(t.TempDir(), "absent"), false}} {
		a.TempFree = nil
		a.describe(&Config{Temp: test.temp}, &survey{})
		if (a.TempFree != nil) != test.want {
			t.Errorf("%q: %v", test.temp, a.TempFree)
		}
	}
}
