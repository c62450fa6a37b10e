// Package worktest lets tests do the tasks of a stage one by one, over run files of their
// own.
package worktest

import (
	"context"
	"testing"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// Run writes a run file in the folder and returns its path.
func Run(t testing.TB, folder string, write func(*runfile.Writer) error) string {
	t.Helper()
	run := runfile.NewWriter(folder, 0)
	defer run.Abort()
	if err := write(run); err != nil {
		t.Fatal(err)
	}
	path, err := run.Close()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Block writes a sketch block of a split. The documents have as many keys and words of
// SimHash as the first.
func Block(run *runfile.Writer, split int, documents ...sketchblock.Document) error {
	builder := sketchblock.NewBuilder(len(documents[0].Keys), len(documents[0].SimHash))
	for _, d := range documents {
		builder.Add(d)
	}
	if err := run.Section(records.Documents, split, builder.Documents()...); err != nil {
		return err
	}
	return run.Section(records.Sets, split, builder.Sets())
}

// Catalog writes a catalog of all that is in the runs and returns its path.
func Catalog(t testing.TB, folder string, runs ...string) string {
	t.Helper()
	var kinds []runfile.Kind
	for _, run := range runs {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			kinds = append(kinds, piece.Kind)
		}
	}
	path, _, err := runfile.WriteCatalog(folder, runs, kinds, nil)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Do does a task, whose run goes to the folder, and returns what the task puts out.
func Do(t testing.TB, folder string, task work.Task, do func(context.Context, work.Task, *work.Place) error) (work.Outcome, error) {
	w := &work.Place{
		Memory: &work.Memory{}, Runs: work.Runs{Folder: work.Path(folder)}, Outcome: &work.Outcome{Number: task.Number},
		Hold: func(any) {},
	}
	err := w.Do(t.Context(), task, do)
	return *w.Outcome, err
}

// Read returns all records of a kind in a run file, one behind the other.
func Read(t testing.TB, run string, kind runfile.Kind) []byte {
	t.Helper()
	pieces, err := runfile.Pieces(run)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	b, err := reader.ReadKind(nil, pieces, kind)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
