package write

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/carry/work/worktest"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/internal/settle/standing"
)

// tenComponents are the numbers of documents of components.
var tenComponents = []int{2, 3, 2, 2, 4, 2, 3, 2, 5, 2}

// shardOfSome writes an output shard of some of ten components, each a chain of documents, and of the stretches between them. It returns a
// catalog.
func shardOfSome(t *testing.T, isMade func(component int) bool) string {
	t.Helper()
	builder := sketchblock.NewBuilder(0, 0)
	position := int64(0)
	for component, n := range tenComponents {
		for range n {
			builder.Add(sketchblock.Document{Ref: at(1, position), ID: fmt.Appendf(nil, "%s%d", strings.Repeat("i", component), position), Size: 10, Standing: 1})
			position++
		}
	}
	block, err := sketchblock.Parse(slices.Concat(builder.Documents()...))
	if err != nil {
		t.Fatal(err)
	}
	return worktest.Catalog(t, worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		number, document := records.Number(0), 0
		for component, n := range tenComponents {
			if !isMade(component) {
				b, err := run.Record(records.Stretches, 0, standing.StretchSize)
				if err != nil {
					return err
				}
				standing.Stretch{Before: number, From: uint32(component), To: uint32(component + 1)}.Put(b)
				document += n
				continue
			}
			first := number
			for i := range n {
				var member [records.MemberSize]byte
				records.PutRef(member[:], block.Ref(document))
				records.Position{Number: number}.Put(member[records.RefSize:])
				records.Position{Number: first}.Put(member[records.RefSize+records.PositionSize:])
				if err := records.WriteMember(run, member[:], &block, document, records.FlagsOf(false, false, 0), block.Digest(document)); err != nil {
					return err
				}
				if i > 0 {
					e := records.Edge[records.Number]{A: number - 1, B: number, Score: records.NewScore(8+i%2, 10, false)}
					if err := records.WriteEdge(run, records.ShardEdges, 0, e); err != nil {
						return err
					}
				}
				number, document = number+1, document+1
			}
		}
		return nil
	}))
}

// TestStanding: rows that are copied from the last results stand where they would be made, and what is noted for the next run is the same. Few
// rows are read at once, with what lies between them.
func TestStanding(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 30))
	var reads atomic.Int64
	memory, results := storagetest.NewMemory(t)
	memory.Ask = func(operation, _ string) error {
		if operation == "read" {
			reads.Add(1)
		}
		return nil
	}
	for _, split := range []keep.Split{keep.Component, keep.Star} {
		rows := Rows{Emit: []string{output.Clusters, output.Pairs, output.Removed}, Files: Files{Format: output.JSONL}, Standing: Standing{Notes: true}}
		rows.Inputs, rows.Rule.Split = listInputs(t, threeFiles), split
		do := func(isMade func(int) bool) (work.Outcome, []string, []byte, error) {
			rows.Partial = work.Path(t.TempDir())
			o, contents, err := write(t, &rows, rows.Partial, work.Task{Shards: 1, Catalog: shardOfSome(t, isMade)})
			if err != nil {
				return o, nil, nil, err
			}
			return o, contents, worktest.Read(t, records.Components, o.Run)[0], nil
		}
		o, want, noted, err := do(func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(t.TempDir(), "standing")
		first, err := standing.Merge(nil, [][]byte{noted})
		if err == nil {
			err = first.Write(list)
		}
		if err != nil {
			t.Fatal(err)
		}
		last, err := standing.Load(list)
		for i, file := range o.Files {
			err = errors.Join(err, storage.WriteFile(storage.Join(results, file.Name), []byte(want[i])))
		}
		if err != nil {
			t.Fatal(err)
		}
		rows.Standing.List, rows.Standing.Results = work.Path(list), work.Path(results)
		for range 20 {
			made := random.Uint32()
			reads.Store(0)
			_, got, noted, err := do(func(component int) bool { return made>>component&1 == 1 })
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%b: %v\n%s\nwant\n%s", made, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if n := reads.Load(); n > int64(len(rows.Emit)) {
				t.Fatalf("%b: %d reads of the last results", made, n)
			}
			next, err := standing.Merge(last, [][]byte{noted})
			if err != nil || string(next.Append(nil)) != string(first.Append(nil)) {
				t.Fatalf("%b: %v, %+v is noted, want %+v", made, err, next, last)
			}
		}
		// Somebody has changed a letter.
		path := storage.Join(results, o.Files[0].Name)
		changed := strings.Replace(want[0], "iiii", "iixi", 1)
		if err := storage.WriteFile(path, []byte(changed)); err != nil {
			t.Fatal(err)
		}
		_, _, _, err = do(func(component int) bool { return component%2 == 1 })
		if damaged, is := errors.AsType[*storage.DamagedError](err); !is || damaged.Path != path || !strings.Contains(err.Error(), "--republish") {
			t.Errorf("%v", err)
		}
	}
}
