package work

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/sketch"
)

// TestEachSet goes through the documents of the blocks of two runs, each with its own set.
func TestEachSet(t *testing.T) {
	sets := [][]uint64{{1, 2, 3}, {}, {1 << 47}, {4, 5}, {}, {6}}
	dir := t.TempDir()
	taskContext := &TaskContext{Memory: &Memory{}}
	defer taskContext.Reader.Close()
	for first := 0; first < len(sets); first += 3 {
		builder := sketchblock.NewBuilder(0, 0)
		for i := first; i < first+3; i++ {
			builder.Add(sketchblock.Document{Ref: docref.Ref(i), Set: sets[i], Size: 10})
		}
		run := runfile.NewWriter(dir, 1<<20)
		if err := errors.Join(run.Section(records.Documents, 0, builder.Documents()...),
			run.Section(records.Sets, 0, builder.Sets())); err != nil {
			t.Fatal(err)
		}
		path, err := run.Close()
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := runfile.Pieces(path)
		if err != nil {
			t.Fatal(err)
		}
		taskContext.Pieces = append(taskContext.Pieces, pieces...)
	}
	n := 0
	err := taskContext.EachSet(t.Context(), func(block *sketchblock.Block, i int, set []byte) error {
		if got := sketchblock.AppendSet([]uint64{}, set); block.Ref(i) != docref.Ref(n) || !slices.Equal(got, sets[n]) {
			t.Errorf("document %d is %d with the set %v, want %v", n, block.Ref(i), got, sets[n])
		}
		n++
		return nil
	})
	if err != nil || n != len(sets) {
		t.Errorf("%d documents (%v), want %d", n, err, len(sets))
	}
	stop := errors.New("stop")
	n = 0
	err = taskContext.EachSet(t.Context(), func(*sketchblock.Block, int, []byte) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 2 {
		t.Errorf("stopped after %d documents (%v)", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := taskContext.EachSet(ctx, func(*sketchblock.Block, int, []byte) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestSets reads the sets of some documents of a block, each alone. The digest of a document tells of damage.
func TestSets(t *testing.T) {
	sets, digester := [][]uint64{{1, 2, 3}, {}, {5, 1 << 47}, {4, 5}}, sketch.NewDigester(7)
	for _, scope := range []uint64{0, 9} {
		builder := sketchblock.NewBuilder(0, 0)
		for i, set := range sets {
			d := sketchblock.Document{Ref: docref.Ref(i), Set: set, Size: len(set), Scope: scope}
			if len(set) > 0 {
				d.Digest = sketchblock.InScope(digester.Set(set), scope)
			}
			builder.Add(d)
		}
		block, err := sketchblock.Parse(bytes.Join(builder.Documents(), nil))
		if err != nil {
			t.Fatal(err)
		}
		run := runfile.NewWriter(t.TempDir(), 1<<20)
		err = run.Section(records.Sets, 0, builder.Sets())
		path, closeErr := run.Close()
		pieces, readErr := runfile.Pieces(path)
		if err := errors.Join(err, closeErr, readErr); err != nil {
			t.Fatal(err)
		}
		read := func(i int) ([]uint64, error) {
			taskContext := &TaskContext{Memory: &Memory{}}
			defer taskContext.Reader.Close()
			some := taskContext.SetsOf(&block, pieces[0], HasDigest(&block, digester))
			set, err := some.Set(i)
			return sketchblock.AppendSet([]uint64{}, set), err
		}
		for i, want := range sets {
			if got, err := read(i); err != nil || !slices.Equal(got, want) {
				t.Errorf("document %d has the set %v (%v), want %v", i, got, err, want)
			}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[pieces[0].Offset+sketchblock.HashSize*3]++ // of document 2
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, of2 := read(2)
		_, of3 := read(3)
		if _, isDamaged := errors.AsType[*storage.DamagedError](of2); !isDamaged || of3 != nil {
			t.Errorf("one damaged set: errors %v and %v", of2, of3)
		}
	}
}

// TestStopsWhoWrites: a task that does not look at its context ends when it writes after the context has.
func TestStopsWhoWrites(t *testing.T) {
	taskContext := &TaskContext{
		Memory:  &Memory{},
		Runs:    Runs{Folder: Path(t.TempDir()), Held: 1 << 20},
		Outcome: new(Outcome),
	}
	ctx, cancel := context.WithCancel(t.Context())
	written := 0
	err := taskContext.Do(ctx, Task{}, func(_ context.Context, _ Task, w *TaskContext) error {
		for {
			if written++; written == 5_000 {
				cancel()
			}
			if _, err := w.Run.Record(records.Edges, 0, 16); err != nil {
				return err
			}
		}
	})
	if !errors.Is(err, context.Canceled) || written > 6_000 {
		t.Errorf("%d records and %v", written, err)
	}
}
