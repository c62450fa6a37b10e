package write

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// asked is a context that calls a function whenever somebody asks it whether it has ended.
type asked struct {
	context.Context
	look func()
}

func (a asked) Err() error {
	a.look()
	return a.Context.Err()
}

// openFiles returns how many files the process has open, 0 where the system does not say it.
func openFiles() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// TestUniqueOfSmallFiles copies many files of one document. One is open at a time, and none takes a buffer, a
// decompressor or a compressor of its own: each of these has tens of kilobytes at least, and there may be a hundred
// thousand files.
func TestUniqueOfSmallFiles(t *testing.T) {
	const few, many = 20, 120
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		t.Run(ending, func(t *testing.T) {
			some, all := copySmallFiles(t, few, ending), copySmallFiles(t, many, ending)
			if all.open > some.open {
				t.Errorf("%d files are open at a time where %d were", all.open, some.open)
			}
			if file := (all.allocated - some.allocated) / (many - few); file > 8<<10 {
				t.Errorf("a file takes %d bytes", file)
			}
		})
	}
}

// packed returns content as a file with an ending.
func packed(t *testing.T, content []byte, ending string) []byte {
	t.Helper()
	dir := t.TempDir()
	w, err := output.NewWriter(dir, output.File{}, output.Format(ending[1:]))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Row(content); err != nil {
		t.Fatal(err)
	}
	file, err := w.Close()
	if err == nil {
		content, err = os.ReadFile(filepath.Join(dir, file.Temporary))
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// taken is what a task has taken at the most.
type taken struct {
	allocated int64 // bytes
	open      int   // files
}

// copySmallFiles writes unique for a number of files, all of one split.
func copySmallFiles(t *testing.T, files int, ending string) (took taken) {
	t.Helper()
	dir := t.TempDir()
	content := packed(t, manyDocuments(1), ending)
	for i := range files {
		store(t, filepath.Join(dir, fmt.Sprintf("%04d%s", i, ending)), content)
	}
	listing, err := corpus.List(t.Context(), []string{dir}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inputs := documents.Inputs{Files: listing.Files, Splits: corpus.Splits(listing.Files, 1<<30)}
	u := &Unique{Output: output.Unique, Partial: work.Path(t.TempDir()), Inputs: listInputs(t, inputs)}
	if err := u.Setup(); err != nil {
		t.Fatal(err)
	}
	task := work.Task{Catalog: worktest.Catalog(t, readRun(t, inputs, 0))}
	worktest.Do(t, worktest.Runs(t), []work.Task{task},
		func(ctx context.Context, task work.Task, w *work.TaskContext) error {
			looks := 0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := u.Task(asked{ctx, func() {
				if looks++; looks == files { // each would have left one open
					took.open = openFiles()
				}
			}}, task, w)
			runtime.ReadMemStats(&after)
			took.allocated = int64(after.TotalAlloc - before.TotalAlloc)
			if looks < files || len(w.Outcome.Files) != files {
				t.Errorf("%d files of %d, %d looks", len(w.Outcome.Files), files, looks)
			}
			return err
		})
	return took
}
