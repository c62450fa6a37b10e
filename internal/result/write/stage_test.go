package write

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// at names a document.
func at(file int, position int64) docref.Ref {
	ref, err := docref.New(file, position)
	if err != nil {
		panic(err)
	}
	return ref
}

// listInputs writes a list of inputs and returns its path.
func listInputs(t *testing.T, inputs documents.Inputs) work.Path {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inputs.gob")
	if err := documents.WriteInputs(path, inputs); err != nil {
		t.Fatal(err)
	}
	return work.Path(path)
}

// threeFiles is a list of three inputs in as many splits. The first file is of the
// reference; the second is cut in the middle.
var threeFiles = documents.Inputs{
	Files: []corpus.File{{Name: "r", Size: 100, Reference: true}, {Name: "a", Size: 100}, {Name: "b", Size: 100}},
	Splits: []corpus.Split{
		{{File: 0, End: 100}}, {{File: 1, End: 50}}, {{File: 1, Start: 50, End: 100}, {File: 2, End: 100}},
	},
	StopWords: "the a",
}

// stage is a kind of output.
type stage interface {
	Setup() error
	Task(context.Context, work.Task, *work.TaskContext) error
}

// write does a task of a stage whose files go to a folder. It returns the outcome of the task, and the content of each
// file, uncompressed, in their order.
func write(t *testing.T, s stage, partial work.Path, task work.Task) (o work.Outcome, contents []string, err error) {
	t.Helper()
	if err := s.Setup(); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(string(partial))
	if o, err = worktest.Try(t, worktest.Runs(t), task, s.Task); err != nil {
		if left, _ := os.ReadDir(string(partial)); len(left) > len(before) {
			t.Errorf("left behind: one of %v", left)
		}
		return o, nil, err
	}
	for _, file := range o.Files {
		content, err := os.ReadFile(filepath.Join(string(partial), file.Temporary))
		if err != nil {
			t.Fatal(err)
		}
		if file.Bytes != int64(len(content)) {
			t.Errorf("%s has %d bytes, not %d", file.Name, len(content), file.Bytes)
		}
		if filepath.Ext(file.Name) == ".gz" {
			reader, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			if content, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
		if rows := bytes.Count(content, []byte("\n")); file.Rows != int64(rows) {
			t.Errorf("%s has %d rows, not %d", file.Name, rows, file.Rows)
		}
		contents = append(contents, string(content))
	}
	return o, contents, nil
}
