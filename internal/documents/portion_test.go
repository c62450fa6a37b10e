package documents

import (
	"fmt"
	"slices"
	"testing"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/sketch"
)

// TestPortion: documents come in order, and records that cannot be read are counted, those
// of the batch first.
func TestPortion(t *testing.T) {
	sketcher, err := NewSketcher(Sketching{
		Reading: Reading{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}, MaxDocument: 1000},
		Options: sketch.Options{Measure: sketch.Measure{Shingle: 1}},
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := "{\"id\":\"a\",\"text\":\"one two\"}\n\n[]\n{\"id\":\"b\",\"text\":\"three\"}\n"
	p := Portion{File: &corpus.File{Name: "x.jsonl"}, Batch: corpus.Batch{Offset: 100, Data: []byte(lines)}}
	var seen []string
	for d := range p.Sketch(sketcher) {
		seen = append(seen, fmt.Sprintf("%s at %d: %d, %d rejected", d.Record.ID, d.Position, len(d.Fingerprint.Set), p.Rejected))
	}
	want := []string{"a at 100: 2, 0 rejected", "b at 132: 1, 1 rejected"}
	if !slices.Equal(seen, want) || p.Documents != 2 || p.Rejected != 1 {
		t.Errorf("%q of %+v, want %q", seen, p, want)
	}
	p = Portion{File: &corpus.File{Name: "x.jsonl"}, Batch: corpus.Batch{Rejects: []corpus.Reject{{Position: 7, Message: "too long"}}, Data: []byte("[]\n")}}
	for range p.Sketch(sketcher) {
		t.Error("a document of none")
	}
	if p.Rejected != 2 || p.FirstReject != "x.jsonl:7: too long" {
		t.Errorf("%+v: want the reject of the batch first", p)
	}
}
