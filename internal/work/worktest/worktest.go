// Package worktest is for tests that run a stage by itself. Write makes the run files that a stage reads. Do runs its
// tasks, and Plan the steps that see all outcomes at once. Read returns what they have written.
package worktest

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
)

// Runs returns where the tasks of a test write: a folder of its own. Few bytes make a section, so most run files have
// several sections of a kind and shard.
func Runs(t testing.TB) work.Runs {
	return work.Runs{Folder: work.Path(t.TempDir()), Held: 512}
}

// Write writes a run file and returns its path.
func Write(t testing.TB, runs work.Runs, write func(*runfile.Writer) error) string {
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

// Catalog writes a catalog of all that is in run files and returns its path.
func Catalog(t testing.TB, paths ...string) string {
	t.Helper()
	var kinds []runfile.Kind
	for _, path := range paths {
		pieces, err := runfile.Pieces(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			kinds = append(kinds, piece.Kind)
		}
	}
	catalog, err := runfile.WriteCatalog(t.TempDir(), paths, kinds, nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Path
}

// Tasks returns the tasks that a delivery makes of run files.
func Tasks(t testing.TB, runs work.Runs, d work.Delivery, paths ...string) (tasks []work.Task) {
	t.Helper()
	if err := d.Deliver(string(runs.Folder), paths, findings.Counts{}, func(task work.Task) {
		tasks = append(tasks, task)
	}); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// Joined returns tasks that each do all shards of some tasks of one step, one after the other.
func Joined(tasks []work.Task) (joined []work.Task) {
	for _, task := range tasks {
		if n := len(joined); n > 0 && joined[n-1].Step == task.Step {
			joined[n-1].Also = append(joined[n-1].Also, task.Number)
		} else {
			joined = append(joined, task)
		}
	}
	return joined
}

// Do does tasks and returns their outcomes.
func Do(t testing.TB, runs work.Runs, tasks []work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) (outcomes []work.Outcome) {
	t.Helper()
	for _, task := range tasks {
		outcome, err := Try(t, runs, task, do)
		if err != nil {
			t.Fatalf("task %d: %v", task.Number, err)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

// Try does one task. It returns the outcome, and the error if the task fails.
func Try(t testing.TB, runs work.Runs, task work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) (work.Outcome, error) {
	t.Helper()
	outcome := work.Outcome{Number: task.Number}
	taskContext := work.TaskContext{Memory: &work.Memory{}, Runs: runs, Outcome: &outcome, Hold: func(any) {}}
	err := taskContext.Do(t.Context(), task, do)
	return outcome, err
}

// Counted returns the findings of a task that counted.
func Counted(counts findings.Counts) findings.Findings {
	return findings.Findings{Totals: findings.Totals{Counts: counts}}
}

// Plan does a step that sees the outcomes of tasks before it. It returns the outcome of the
// step and the tasks that it makes.
func Plan(t testing.TB, runs work.Runs, outcomes []work.Outcome,
	do func(context.Context, *work.Planning) error,
) (work.Outcome, []work.Task) {
	t.Helper()
	var tasks []work.Task
	p := work.Planning{
		Memory:   &work.Memory{},
		Runs:     runs,
		Outcomes: outcomes,
		Emit:     func(task work.Task) { tasks = append(tasks, task) },
	}
	for _, o := range outcomes {
		findings.Merge(&p.Counts, o.Counts)
	}
	if err := do(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	return p.Outcome, tasks
}

// Read returns the records of a kind by shard. Records of several run files stand one behind the other. A run file ""
// has none.
func Read(t testing.TB, kind runfile.Kind, paths ...string) map[int][]byte {
	t.Helper()
	packed := map[int][]byte{}
	var reader runfile.Reader
	defer reader.Close()
	for _, path := range paths {
		if path == "" {
			continue
		}
		pieces, err := runfile.Pieces(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			if piece.Kind != kind {
				continue
			}
			if packed[piece.Shard], err = reader.Read(packed[piece.Shard], piece); err != nil {
				t.Fatal(err)
			}
		}
	}
	return packed
}

func init() { work.Rehearse = rehearse }

// rehearse makes attempts that do not count: one that breaks off, one whose outcome is lost, and one at the same time
// as the last, or some of these.
func rehearse(
	ctx context.Context, seed uint64, name string, attempt work.Attempt,
) (done work.Done, figures work.Figures, err error) {
	random := rand.New(rand.NewPCG(seed, xxh3.HashString(name)))
	if random.IntN(2) == 0 {
		brittle := &brittle{Context: ctx}
		brittle.left.Store(random.Int64N(40))
		_, _, _ = attempt(brittle)
	}
	if random.IntN(3) == 0 {
		if _, _, err := attempt(ctx); err != nil {
			return done, figures, err
		}
	}
	var duplicates errgroup.Group
	if random.IntN(3) == 0 {
		duplicates.Go(func() error {
			_, _, err := attempt(ctx)
			return err
		})
	}
	done, figures, err = attempt(ctx)
	if duplicate := duplicates.Wait(); err == nil {
		err = duplicate
	}
	return done, figures, err
}

// brittle is a context that ends when it was asked a number of times.
type brittle struct {
	context.Context
	left atomic.Int64
}

// Err counts the question.
func (b *brittle) Err() error {
	if b.left.Add(-1) < 0 {
		return context.Canceled
	}
	return b.Context.Err()
}
