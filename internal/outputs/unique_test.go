package outputs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/klauspost/compress/gzip"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
	"mirrorbeam/sketch"
)

// TestUniqueSeesChanges reads files again that changed in between, with the size
// and the time that they had: the second read must not go unnoticed.
func TestUniqueSeesChanges(t *testing.T) {
	for _, test := range []struct {
		about, name string
		change      func(content []byte)
		want        string
	}{
		{"nothing", "b.jsonl", func([]byte) {}, ""},
		{"nothing of a gzip file", "b.jsonl.gz", func([]byte) {}, ""},
		{"a letter", "b.jsonl", func(content []byte) { content[len(content)/2] ^= 1 }, "b.jsonl: the file changed while the job ran: its bytes "},
		{"the check sum of a gzip file", "b.jsonl.gz", func(content []byte) { content[len(content)-8] ^= 1 }, "b.jsonl.gz: the file changed while the job ran"},
		{"data of a gzip file", "b.jsonl.gz", func(content []byte) { content[len(content)/2] ^= 1 }, "b.jsonl.gz: the file changed while the job ran"},
	} {
		t.Run(test.about, func(t *testing.T) {
			content := manyDocuments(2000)
			if strings.HasSuffix(test.name, ".gz") {
				content = pressed(t, content)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, test.name)
			store(t, filepath.Join(dir, "a.jsonl"), manyDocuments(3))
			store(t, filepath.Join(dir, "empty.jsonl"), nil)
			store(t, path, content)
			files, err := uniqueOf(t, dir, func() {
				changed := bytes.Clone(content)
				test.change(changed)
				store(t, path, changed)
			})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), string(work.InputFault)) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []string{string(manyDocuments(3)), string(manyDocuments(2000)), ""}
			if fmt.Sprint(files) != fmt.Sprint(want) {
				t.Errorf("files of %d, %d, %d bytes", len(files[0]), len(files[1]), len(files[2]))
			}
		})
	}
}

// manyDocuments returns so many documents.
func manyDocuments(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"document number %d of some\"}\n", i, i*i)
	}
	return b.Bytes()
}

// pressed returns content as a gzip file.
func pressed(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// store writes a file as it was long ago.
func store(t *testing.T, path string, content []byte) {
	t.Helper()
	err := os.WriteFile(path, content, 0o666)
	if err == nil {
		err = os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// uniqueOf fingerprints the files of a folder, in stretches of some kilobytes,
// and returns what unique makes of them when all stay. In between it calls
// change.
func uniqueOf(t *testing.T, dir string, change func()) (contents []string, err error) {
	t.Helper()
	ctx := metrics.SetBundleID(t.Context(), t.Name())
	listing, err := corpus.List(ctx, []string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	inputs := &documents.Inputs{Files: listing.Files, Splits: corpus.Splits(listing.Files, 5000)}
	job := Job{
		Temp: t.TempDir(), Partial: t.TempDir(), Fields: corpus.Fields{ID: "id", Texts: []string{"text"}},
		MaxDocument: 1 << 20, Measure: sketch.Measure{Shingle: 3}, Verify: methods.VerifyExact, Emit: []string{output.Unique}, Format: "jsonl",
	}
	var runs []string
	for number := range inputs.Splits {
		outcomes, err := workOn(ctx, &fingerprintFn{Job: job, inputs: inputs}, work.Task{Number: number})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, work.RunsOf(outcomes)...)
	}
	catalog, _, err := runfile.WriteCatalog(job.Temp, runs, nil, []runfile.Kind{records.Documents, records.Removed, records.Sums})
	if err != nil {
		t.Fatal(err)
	}
	change()
	for number := range inputs.Splits {
		outcomes, err := workOn(ctx, &uniqueFn{Job: job, inputs: inputs}, work.Task{Number: number, Catalog: catalog})
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			for _, file := range o.Files {
				content, err := os.ReadFile(filepath.Join(job.Partial, file.Temporary))
				if err != nil {
					t.Fatal(err)
				}
				contents = append(contents, string(content))
			}
		}
	}
	return contents, nil
}

// workOn has a DoFn work on a bundle of one task.
func workOn(ctx context.Context, f interface {
	ProcessElement(context.Context, []byte, func([]byte)) error
	FinishBundle(context.Context, func([]byte)) error
}, t work.Task,
) (outcomes []work.Outcome, err error) {
	emit := func(element []byte) {
		o, fault := work.DecodeOutcome(element)
		outcomes, err = append(outcomes, o), errors.Join(err, fault)
	}
	if err := errors.Join(f.ProcessElement(ctx, t.Encode(), emit), f.FinishBundle(ctx, emit)); err != nil {
		return nil, err
	}
	return outcomes, err
}
