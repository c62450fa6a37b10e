package documents

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/sketch"
)

// TestPortion: documents come in order, and records that cannot be read are counted, those
// of the batch first.
func TestPortion(t *testing.T) {
	sketcher, err := NewSketcher(Sketching{
		Reading: Reading{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}, MaxDocument: 1000},
		Options: sketch.Options{Measure: sketch.Measure{Shingle: 1}},
	}, Kept{}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := "{\"id\":\"a\",\"text\":\"one two\"}\n\n[]\n{\"id\":\"b\",\"text\":\"three\"}\n"
	p := Portion{File: &corpus.File{Name: "x.jsonl"}, Batch: corpus.Batch{Offset: 100, Data: []byte(lines)}}
	var seen []string
	for d := range p.Sketch(sketcher) {
		seen = append(seen,
			fmt.Sprintf("%s at %d: %d, %d rejected", d.Record.ID, d.Position, len(d.Fingerprint.Set), p.Rejected))
	}
	want := []string{"a at 100: 2, 0 rejected", "b at 132: 1, 1 rejected"}
	if !slices.Equal(seen, want) || p.Documents != 2 || p.Rejected != 1 {
		t.Errorf("%q of %+v, want %q", seen, p, want)
	}
	p = Portion{
		File:  &corpus.File{Name: "x.jsonl"},
		Batch: corpus.Batch{Rejects: []corpus.Reject{{Position: 7, Message: "too long"}}, Data: []byte("[]\n")},
	}
	for range p.Sketch(sketcher) {
		t.Error("a document of none")
	}
	if p.Rejected != 2 || p.FirstReject != "x.jsonl:7: too long" {
		t.Errorf("%+v: want the reject of the batch first", p)
	}
	p.Batch = corpus.Batch{
		Rejects: []corpus.Reject{{Position: 9, Message: "cut short"}},
		Data:    []byte("{\"text\":\"th"),
		IsCut:   true,
	}
	for range p.Sketch(sketcher) {
		t.Error("a document of the beginning of one")
	}
	if p.Rejected != 3 {
		t.Errorf("%+v: want one reject for a line that a damaged stream cuts", p)
	}
}

// TestCutFiles cuts compressed files at every byte: whatever is left, the one reject says that the file is cut short,
// and not that a line is malformed.
func TestCutFiles(t *testing.T) {
	const lines = "{\"id\":\"a\",\"text\":\"one two\"}\n{\"id\":\"b\",\"text\":\"three\"}\n"
	var gzipped, zstded bytes.Buffer
	g := gzip.NewWriter(&gzipped)
	z, err := zstd.NewWriter(&zstded, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := w.Write([]byte(lines)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	reading := Reading{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}, MaxDocument: 1000}
	for name, whole := range map[string][]byte{"a.jsonl.gz": gzipped.Bytes(), "a.jsonl.zst": zstded.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		for cut := 1; cut < len(whole); cut++ {
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			listing, err := corpus.List(t.Context(), []string{path}, corpus.Options{})
			if err != nil {
				t.Fatal(err)
			}
			reader := newSplitReader(reading, listing.Files, corpus.Split{{End: listing.Files[0].Size}}, 0)
			var l part
			var faults []string
			for reader.fill(t.Context(), &l) == nil {
				for record := range newRecordDecoder(listing.Files, reading.Wanted()).records(&l) {
					if record.Fault != "" {
						faults = append(faults, record.Fault)
					}
				}
			}
			reader.close()
			if len(faults) != 1 || !strings.Contains(faults[0], "stream is cut short") {
				t.Errorf("%s, cut to %d of %d bytes: %q", name, cut, len(whole), faults)
			}
		}
	}
}

// shaky is a kind of fingerprint of the test, whose maker panics over a text and is then no longer of use.
const shaky = "shaky"

type shakyMaker struct{ isBroken bool }

func (m *shakyMaker) Make(_ []byte, content corpus.Record) (f fingerprints.Fingerprint) {
	if m.isBroken = m.isBroken || string(content.Texts[0]) == "shake"; m.isBroken {
		panic("the maker of the test")
	}
	return f
}

func init() {
	fingerprints.Register(fingerprints.Kind{
		Name: shaky,
		New:  func(fingerprints.Options) (fingerprints.Maker, error) { return new(shakyMaker), nil },
	})
}

// TestPortionPanics: a panic over the fingerprint of a document is a reject, and a new maker makes the next
// fingerprints.
func TestPortionPanics(t *testing.T) {
	sketcher, err := NewSketcher(Sketching{Reading: Reading{
		Fields:      corpus.Fields{Texts: []string{"text"}},
		MaxDocument: 1000,
	}}, Kept{Fingerprints: shaky}, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := "{\"text\":\"one\"}\n{\"text\":\"shake\"}\n{\"text\":\"two\"}\n"
	p := Portion{File: &corpus.File{Name: "x.jsonl"}, Batch: corpus.Batch{Data: []byte(lines)}}
	for range p.Sketch(sketcher) {
	}
	const want = "x.jsonl:15: the program panicked when the document was fingerprinted: the maker of the test"
	if p.Documents != 2 || p.Rejected != 1 || !strings.HasPrefix(p.FirstReject, want) {
		t.Errorf("%d documents, %d rejects, the first is %q, want %q", p.Documents, p.Rejected, p.FirstReject, want)
	}
}
