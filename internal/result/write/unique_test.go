package write

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestUniqueSeesChanges changes files between the two reads, but leaves their size and time. The second read must
// notice.
func TestUniqueSeesChanges(t *testing.T) {
	for _, test := range []struct {
		about, name string
		change      func(content []byte)
		want        string
	}{
		{"nothing", "b.jsonl", func([]byte) {}, ""},
		{"nothing of a gzip file", "b.jsonl.gz", func([]byte) {}, ""},
		{
			"a letter", "b.jsonl", func(content []byte) { content[len(content)/2] ^= 1 },
			"b.jsonl: the file changed while the job ran: its bytes ",
		},
		{
			"the check sum of a gzip file", "b.jsonl.gz", func(content []byte) { content[len(content)-8] ^= 1 },
			"b.jsonl.gz: the file changed while the job ran",
		},
		{
			"data of a gzip file", "b.jsonl.gz", func(content []byte) { content[len(content)/2] ^= 1 },
			"b.jsonl.gz: the file changed while the job ran",
		},
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
			files, err := uniqueOf(t, dir, output.JSONL, func() {
				changed := bytes.Clone(content)
				test.change(changed)
				store(t, path, changed)
			})
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) ||
					work.NewFault(err).Kind != work.InputFault {
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

// manyDocuments returns n documents.
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

// store writes a file with a modification time long ago.
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

// readRun reads the stretches of a split as the stage fingerprint does: its run has a document for every line, and the
// checksums.
func readRun(t *testing.T, inputs documents.Inputs, split int) string {
	t.Helper()
	return worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		var sums []documents.Checksum
		for _, stretch := range inputs.Splits[split] {
			reader, err := corpus.Open(inputs.Files[stretch.File], stretch, corpus.Limits{Line: 1 << 20})
			if err != nil {
				return err
			}
			defer reader.Close()
			var sum documents.Checksum
			for {
				batch, err := reader.Next(nil)
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return err
				}
				sum.Add(batch)
				var block []sketchblock.Document
				for position := range batch.Lines() {
					block = append(block, sketchblock.Document{Ref: at(batch.File, position)})
				}
				if len(block) > 0 {
					if err := worktest.Block(run, split, block...); err != nil {
						return err
					}
				}
			}
			sums = append(sums, sum)
		}
		return documents.WriteChecksums(run, split, sums)
	})
}

// uniqueOf reads the files of a folder, in stretches of some kilobytes, and returns what unique writes if all documents
// but removed are kept. Between the two reads it calls change.
func uniqueOf(t *testing.T, dir string, format output.Format, change func(),
	removed ...docref.Ref,
) (contents []string, err error) {
	t.Helper()
	listing, err := corpus.List(t.Context(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inputs := documents.Inputs{Files: listing.Files, Splits: corpus.Splits(listing.Files, 5000)}
	u := &Unique{Output: output.Unique, Partial: work.Path(t.TempDir()), Inputs: listInputs(t, inputs)}
	starts, err := inputs.SplitStarts()
	if err != nil {
		t.Fatal(err)
	}
	runs := []string{worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		for _, ref := range removed {
			b, err := run.Record(records.Removed, documents.SplitOf(starts, ref), records.RefSize)
			if err != nil {
				return err
			}
			records.PutRef(b, ref)
		}
		return nil
	})}
	if len(removed) == 0 {
		runs = nil
	}
	for split := range inputs.Splits {
		runs = append(runs, readRun(t, inputs, split))
	}
	catalog := worktest.Catalog(t, runs...)
	change()
	for number := range inputs.Splits {
		_, some, err := write(t, u, u.Partial, work.Task{Number: number, Catalog: catalog})
		if err != nil {
			return nil, err
		}
		contents = append(contents, some...)
	}
	return contents, nil
}

// TestUniqueCopiesWhatStays drops documents of a file in many stretches, of a compressed file, and all documents of one
// file.
func TestUniqueCopiesWhatStays(t *testing.T) {
	dir := t.TempDir()
	contents := [][]byte{
		manyDocuments(400), manyDocuments(300), manyDocuments(2),
		[]byte("{\"text\":\"no line feed\"}"),
	}
	store(t, filepath.Join(dir, "a.jsonl"), contents[0])
	store(t, filepath.Join(dir, "b.jsonl.gz"), pressed(t, contents[1]))
	store(t, filepath.Join(dir, "c.jsonl"), contents[2])
	store(t, filepath.Join(dir, "d.jsonl"), contents[3])
	var removed []docref.Ref
	want := make([]string, len(contents))
	for file, content := range contents {
		for position, line := range (corpus.Batch{Data: content}).Lines() {
			if file == 2 || len(line)%3 == 0 && file < 2 {
				removed = append(removed, at(file, position))
			} else {
				want[file] += string(line) + "\n"
			}
		}
	}
	for _, format := range []output.Format{output.JSONL, output.JSONLGzip} {
		got, err := uniqueOf(t, dir, format, func() {}, removed...)
		if err != nil {
			t.Fatal(err)
		}
		for file := range want {
			if len(got) != len(want) || got[file] != want[file] {
				t.Fatalf("%d files; file %d has %d bytes, want %d", len(got), file, len(got[file]), len(want[file]))
			}
		}
	}
}

// TestUniqueEnds: a cancelled task returns the reason.
func TestUniqueEnds(t *testing.T) {
	dir := t.TempDir()
	store(t, filepath.Join(dir, "a.jsonl"), manyDocuments(10))
	listing, err := corpus.List(t.Context(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inputs := documents.Inputs{Files: listing.Files, Splits: corpus.Splits(listing.Files, 5000)}
	u := &Unique{Output: output.Unique, Partial: work.Path(t.TempDir()), Inputs: listInputs(t, inputs)}
	if err := u.Setup(); err != nil {
		t.Fatal(err)
	}
	task := work.Task{Catalog: worktest.Catalog(t, readRun(t, inputs, 0))}
	_, err = worktest.Try(t, worktest.Runs(t), task,
		func(ctx context.Context, task work.Task, w *work.TaskContext) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return u.Task(ctx, task, w)
		})

	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
