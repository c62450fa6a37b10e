// Package worktest runs the tasks and the steps of one stage by themselves, for tests: what
// they read are run files in a folder of the test, and what they write is read back.
package worktest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

// Runs returns where the tasks of a test write. A task holds so few bytes back that most
// run files have several sections of a kind.
func Runs(t *testing.T) work.Runs {
	return work.Runs{Folder: work.Path(t.TempDir()), Held: 512}
}

// Write writes a run file and returns its path.
func Write(t *testing.T, runs work.Runs, write func(*runfile.Writer) error) string {
	t.Helper()
	var run runfile.Writer
	runs.Begin(&run)
	defer run.Abort()
	if err := write(&run); err != nil {
		t.Fatal(err)
	}
	path, err := run.Close()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Tasks returns the tasks that a delivery makes of run files.
func Tasks(t *testing.T, runs work.Runs, d work.Delivery, paths ...string) (tasks []work.Task) {
	t.Helper()
	if err := d.Deliver(string(runs.Folder), paths, work.Counts{}, func(task work.Task) { tasks = append(tasks, task) }); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// Do does one task and returns its outcome.
func Do(t *testing.T, runs work.Runs, task work.Task, do func(context.Context, work.Task, *work.Desk) error) (work.Outcome, error) {
	t.Helper()
	outcome := work.Outcome{Number: task.Number}
	desk := work.Desk{Memory: &work.Memory{}, Runs: runs, Outcome: &outcome, Hold: func(any) {}}
	err := desk.Do(t.Context(), task, do)
	return outcome, err
}

// DoAll does tasks of which none may fail.
func DoAll(t *testing.T, runs work.Runs, tasks []work.Task, do func(context.Context, work.Task, *work.Desk) error) (outcomes []work.Outcome) {
	t.Helper()
	for _, task := range tasks {
		outcome, err := Do(t, runs, task, do)
		if err != nil {
			t.Fatalf("task %d: %v", task.Number, err)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// Plan does a step that sees the outcomes of tasks before it. It returns the outcome of the
// step and the tasks that it makes.
func Plan(t *testing.T, runs work.Runs, outcomes []work.Outcome, do func(context.Context, *work.Planning) error) (work.Outcome, []work.Task) {
	t.Helper()
	var tasks []work.Task
	p := work.Planning{Memory: &work.Memory{}, Runs: runs, Outcomes: outcomes, Emit: func(task work.Task) { tasks = append(tasks, task) }}
	for _, o := range outcomes {
		p.Counts.Add(o.Counts)
	}
	if err := do(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	return p.Outcome, tasks
}

// Read returns the records of a kind in a run file, by shard. A run file "" has none.
func Read(t *testing.T, path string, kind runfile.Kind) map[int][]byte {
	t.Helper()
	packed := map[int][]byte{}
	if path == "" {
		return packed
	}
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	for _, piece := range pieces {
		if piece.Kind != kind {
			continue
		}
		if packed[piece.Shard], err = reader.Read(packed[piece.Shard], piece); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

// ReadAll returns the records of a kind in a run file, of all shards one behind the other.
func ReadAll(t *testing.T, path string, kind runfile.Kind) (all []byte) {
	t.Helper()
	packed := Read(t, path, kind)
	for _, shard := range slices.Sorted(maps.Keys(packed)) {
		all = append(all, packed[shard]...)
	}
	return all
}

// In returns the runs of tasks that write in a folder.
func In(folder string) work.Runs { return work.Runs{Folder: work.Path(folder)} }

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
func Catalog(t *testing.T, folder string, runs ...string) string {
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
