package transforms

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/klauspost/compress/gzip"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

// TestFingerprintStreams fingerprints a compressed file, where several
// goroutines share the work, again and again: its sketch blocks are those of the
// plain file. Metrics are made anew for each bundle, so each time the goroutines
// count for the first time.
func TestFingerprintStreams(t *testing.T) {
	var text bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&text, "{\"id\":%d,\"text\":\"document number %d of some\"}\n", i, i*i)
	}
	text.WriteString("no document\n")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text.Bytes())
	w.Close()
	dir := t.TempDir()
	fingerprint := func(name string, content []byte, ctx context.Context) (counts work.Counts, sections string) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		listing, err := corpus.List(t.Context(), []string{path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		files := listing.Files
		f := &fingerprintFn{
			Job: Job{
				Temp: t.TempDir(), Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}, MaxDocument: 1 << 20,
				Measure: sketch.Measure{Shingle: 3}, Scheme: lshbands.Scheme{Bands: 5, Rows: 2}, Verify: methods.VerifyExact,
			},
			inputs: &documents.Inputs{Files: files, Splits: corpus.Splits(files, 1<<20)},
		}
		var o work.Outcome
		emit := func(element []byte) {
			if o, err = work.DecodeOutcome(element); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.ProcessElement(ctx, work.Task{}.Encode(), emit); err != nil {
			t.Fatal(err)
		}
		if err := f.FinishBundle(ctx, emit); err != nil {
			t.Fatal(err)
		}
		pieces, err := runfile.Pieces(o.Run)
		if err != nil {
			t.Fatal(err)
		}
		var reader runfile.Reader
		defer reader.Close()
		var all []byte
		for _, kind := range []runfile.Kind{records.Documents, records.Sets, records.Rejects} {
			if all, err = reader.ReadKind(all, pieces, kind); err != nil {
				t.Fatal(err)
			}
		}
		return o.Counts, string(all)
	}
	wantCounts, want := fingerprint("x.jsonl", text.Bytes(), metrics.SetBundleID(t.Context(), "plain"))
	if wantCounts.Documents != 40 || wantCounts.Rejected != 1 {
		t.Fatalf("counts %+v", wantCounts)
	}
	for i := range 100 {
		counts, got := fingerprint("x.jsonl.gz", packed.Bytes(), metrics.SetBundleID(t.Context(), fmt.Sprint(i)))
		if counts != wantCounts || got != want {
			t.Fatalf("counts %+v, want %+v; equal sections: %v", counts, wantCounts, got == want)
		}
	}
}
