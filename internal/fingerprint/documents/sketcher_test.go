package documents

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/sketch"
)

// TestSketcher: a line has the same fingerprint in a job and outside.
func TestSketcher(t *testing.T) {
	featured := usual()
	featured.Fields = corpus.Fields{ID: "id", Features: "features"}
	stopped := usual()
	stopped.Options.StopWordUse = sketch.RemoveStopWords
	stopped.Options.Normalization = sketch.Normalization{NFKC: true}
	const stopWords = "# some\nof\nsome\n"
	for _, test := range []struct {
		name      string
		sketching Sketching
		stopWords string
		content   string
	}{
		{"texts", usual(), "", string(someLines(20))},
		{"stop words", stopped, stopWords, string(someLines(20))},
		{
			"features", featured, "",
			`{"id":"a","features":["x","y"]}` + "\n" + `{"id":"b","features":{"x":2.5}}` + "\n" + `{"features":[]}` +
				"\n",
		},
	} {
		inputs := listed(t, map[string][]byte{"x.jsonl": []byte(test.content)}, 1<<30)
		inputs.StopWords = test.stopWords
		want := stage(t, inputs, func(f *Fingerprinting) { f.Sketching = test.sketching }).all(t).documents
		sketcher, err := NewSketcher(test.sketching, Kept{}, test.stopWords)
		if err != nil {
			t.Fatal(err)
		}
		var got []stored
		for position, line := range (corpus.Batch{Data: []byte(test.content)}).Lines() {
			record, f, err := sketcher.Sketch(&Portion{}, position, line)
			if err != nil {
				continue
			}
			ref, err := docref.New(0, position)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, stored{
				ref:     ref,
				digest:  f.Digest,
				id:      string(record.ID),
				simHash: slices.Clone(f.SimHash),
				size:    len(f.Set),
				length:  int(contentLength(record)),
				set:     sketchblock.AppendPacked([]byte{}, f.Set),
			})
		}
		for i := range want {
			want[i].keys = nil
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || len(got) < 3 {
			t.Errorf("%s: %d documents\n%.500v, want\n%.500v", test.name, len(got), got, want)
		}
	}
}

// TestSketcherRefuses says why a line is no document.
func TestSketcherRefuses(t *testing.T) {
	short := usual()
	short.MaxDocument = 5
	sketcher, err := NewSketcher(short, Kept{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		`{"text":"12345"}`:  "<nil>",
		`{"text":"123456"}`: "text of 6 bytes is longer than the limit of 5 bytes set by max_document",
		`[]`:                "the line is an array, not an object",
	} {
		if _, _, err := sketcher.Sketch(&Portion{}, 0, []byte(line)); fmt.Sprint(err) != want {
			t.Errorf("%s: error %v, want %s", line, err, want)
		}
	}
	short.Fields, short.MaxDocument = corpus.Fields{Features: "features"}, 2
	if sketcher, err = NewSketcher(short, Kept{}, ""); err != nil {
		t.Fatal(err)
	}
	const tooMany = "3 features are more than the limit of 2 set by max_document"
	if _, _, err := sketcher.Sketch(&Portion{}, 0, []byte(`{"features":["a","b","c"]}`)); fmt.Sprint(err) != tooMany {
		t.Errorf("3 features: error %v, want %s", err, tooMany)
	}
	for list, want := range map[string]string{"\xff": "not valid UTF-8", "of": "unknown use"} {
		if _, err := NewSketcher(usual(), Kept{}, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("stop words %q: error %v, want %s", list, err, want)
		}
	}
}

// TestRecords: rejects come between the lines, at their positions.
func TestRecords(t *testing.T) {
	l := &part{batches: []corpus.Batch{
		{
			File:   3,
			Offset: 100,
			Data:   []byte("{\"text\":\"a\"}\n\t\nx\n"),
			Rejects: []corpus.Reject{{Position: 50, Message: "before"}, {Position: 114, Message: "within"}, {
				Position: 900,
				Message:  "behind",
			}},
		},
		{File: 4, Rejects: []corpus.Reject{{Position: 7, Message: "alone"}}},
	}}
	type seen struct {
		file      int
		position  int64
		bytes     int64
		fault     string
		isBlank   bool
		documents int
	}
	all := func(most int) (got []seen) {
		for r := range newRecordDecoder(make([]corpus.File, 5), usual().Wanted()).records(l) {
			got = append(got, seen{r.File, r.Position, r.Bytes, r.Fault, r.IsBlank, len(r.Content.Texts)})
			if len(got) == most {
				break
			}
		}
		return got
	}
	want := []seen{
		{3, 50, 0, "before", false, 0},
		{3, 100, 12, "", false, 1},
		{3, 113, 1, "", true, 0},
		{3, 114, 0, "within", false, 0},
		{3, 115, 1, "", false, 0},
		{3, 900, 0, "behind", false, 0},
		{4, 7, 0, "alone", false, 0},
	}
	got := all(100)
	if len(got) == len(want) && got[4].fault != "" {
		want[4].fault = got[4].fault // in the words of the decoder
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("records %+v, want\n%+v", got, want)
	}
	for most := 1; most < len(want); most++ {
		if got := all(most); !reflect.DeepEqual(got, want[:most]) {
			t.Errorf("the first %d: %+v", most, got)
		}
	}
}
