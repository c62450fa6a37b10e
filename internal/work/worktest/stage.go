package worktest

import (
	"context"
	"slices"
	"testing"

	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Shard does the task of a shard of the outcomes' runs, which must succeed, and returns its
// outcome.
func Shard(t testing.TB, folder string, from []work.Outcome, shard int, do func(context.Context, work.Task, *work.Place) error) work.Outcome {
	t.Helper()
	task := work.Task{Number: shard}
	if len(from) > 0 {
		task.Catalog = Catalog(t, folder, work.RunsOf(from)...)
	}
	return Must(t, folder, task, do)
}

// Must is [Do] of a task that must succeed.
func Must(t testing.TB, folder string, task work.Task, do func(context.Context, work.Task, *work.Place) error) work.Outcome {
	t.Helper()
	o, err := Do(t, folder, task, do)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Plan does a step that sees the outcomes, which must succeed, and returns the tasks that it
// puts out.
func Plan(t testing.TB, folder string, outcomes []work.Outcome, plan func(context.Context, *work.Planning) error) []work.Task {
	t.Helper()
	var tasks []work.Task
	p := work.Planning{
		Memory: &work.Memory{}, Runs: work.Runs{Folder: work.Path(folder)}, Outcomes: slices.Clone(outcomes),
		Emit: func(t work.Task) { tasks = append(tasks, t) },
	}
	for _, o := range outcomes {
		p.Counts.Add(o.Counts)
	}
	if err := plan(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// Deliver returns the tasks of a delivery over the runs of outcomes.
func Deliver(t testing.TB, folder string, d work.Delivery, outcomes []work.Outcome) []work.Task {
	t.Helper()
	var tasks []work.Task
	if err := d.Deliver(folder, work.RunsOf(outcomes), work.Counts{}, func(t work.Task) { tasks = append(tasks, t) }); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// ReadShard returns the records of a kind and shard in the runs of outcomes, one behind the
// other.
func ReadShard(t testing.TB, outcomes []work.Outcome, shard int, kind runfile.Kind) []byte {
	t.Helper()
	var reader runfile.Reader
	defer reader.Close()
	var all []byte
	for _, run := range work.RunsOf(outcomes) {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			if piece.Kind != kind || piece.Shard != shard {
				continue
			}
			if all, err = reader.Read(all, piece); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}
