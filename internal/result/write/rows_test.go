package write

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// shardOfThree writes an output shard of three documents, each like the next, and rejects
// of two splits. It returns a catalog.
func shardOfThree(t *testing.T) string {
	t.Helper()
	builder := sketchblock.NewBuilder(0, 0)
	for i, id := range []string{"x", "y", "z"} {
		builder.Add(sketchblock.Document{Ref: at(1+i/2, int64(i)), ID: []byte(id), Size: 10, Priority: 1})
	}
	block, err := sketchblock.Parse(slices.Concat(builder.Documents()...))
	if err != nil {
		t.Fatal(err)
	}
	runs := worktest.Runs(t)
	shard := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for i := range 3 {
			member := records.ListedDocument{Ref: block.Ref(i), At: records.Position{Number: records.Number(i)}}
			if err := records.WriteMember(run, member, &block, i, records.FlagsOf(false, false, false, 0),
				block.Digest(i), nil); err != nil {
				return err
			}
		}
		for i := range records.Number(2) {
			b, err := run.Record(records.ShardEdges, 0, records.EdgeSize)
			if err != nil {
				return err
			}
			records.PutEdge(b, records.Edge[records.Number]{A: i, B: i + 1, Score: records.NewScore(9, 10, false)})
		}
		return nil
	})
	paths := []string{shard}
	for _, name := range []string{"a", "b"} {
		paths = append(paths, worktest.Write(t, runs, func(run *runfile.Writer) error {
			rows := output.AppendRow(nil, output.Reject{File: name, Position: 3, Error: "one"})
			return run.Section(records.Rejects, 0, output.AppendRow(rows, output.Reject{
				File:     name,
				Position: 5,
				Error:    "two",
			}))
		}))
	}
	return worktest.Catalog(t, paths...)
}

func TestRowsOfAShard(t *testing.T) {
	catalog := shardOfThree(t)
	rejects := `{"file":"a","position":3,"error":"one"}
{"file":"a","position":5,"error":"two"}
{"file":"b","position":3,"error":"one"}
{"file":"b","position":5,"error":"two"}
`
	pairs := `{"a":"x","b":"y","jaccard":0.9,"containment_a":0.9,"containment_b":0.9,"exact":true}
{"a":"y","b":"z","jaccard":0.9,"containment_a":0.9,"containment_b":0.9,"exact":true}
`
	removed := `{"id":"y","ref":"a:1","cluster":"x","kept_id":"x","similarity":0.9}
`
	ofClusters := `{"cluster":"x","id":"x","ref":"a:0","kept":true,"similarity":1,"size":3,"least":0.9,"mean":0.9}
{"cluster":"x","id":"y","ref":"a:1","kept":false,"similarity":0.9,"size":3,"least":0.9,"mean":0.9}
{"cluster":"x","id":"z","ref":"b:2","kept":true,"similarity":1,"size":3,"least":0.9,"mean":0.9}
`
	for _, c := range []struct {
		name    string
		rows    Rows
		number  int
		want    []string // names, then contents
		removed int      // documents in the run
		counts  findings.Counts
	}{
		{
			"all",
			Rows{
				Emit:  []string{output.Removed, output.Unique, output.Clusters, output.Pairs},
				Files: Files{Format: output.JSONL},
			},
			0,
			[]string{
				"clusters-00000-of-00002.jsonl", ofClusters, "pairs-00000-of-00002.jsonl", pairs,
				"removed-00000-of-00002.jsonl", removed, "rejects-00000-of-00001.jsonl", rejects,
			},
			1,
			findings.Counts{Pairs: 2, Clusters: 1, Clustered: 3, Kept: 2, Removed: 1},
		},
		{
			"removed, compressed",
			Rows{Emit: []string{output.Removed}, Files: Files{Format: output.JSONLGzip}},
			0,
			[]string{"removed-00000-of-00002.jsonl.gz", removed, "rejects-00000-of-00001.jsonl.gz", rejects},
			0,
			findings.Counts{Pairs: 2, Clusters: 1, Clustered: 3, Kept: 2, Removed: 1},
		},
		{
			"pairs that decide nothing",
			Rows{Emit: []string{output.Pairs}, Undecided: true, Files: Files{Format: output.JSONL}},
			0,
			[]string{"pairs-00000-of-00002.jsonl", pairs, "rejects-00000-of-00001.jsonl", rejects},
			0,
			findings.Counts{Pairs: 2, Kept: 3},
		},
		{
			"an empty shard",
			Rows{Emit: []string{output.Pairs, output.Unique}, Files: Files{Format: output.JSONL}},
			1,
			[]string{"pairs-00001-of-00002.jsonl", ""},
			0,
			findings.Counts{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rows.Partial, c.rows.Inputs = work.Path(t.TempDir()), listInputs(t, threeFiles)
			c.rows.Rule.Split = keep.Component
			o, contents, err := write(t, &c.rows, c.rows.Partial, work.Task{
				Number:  c.number,
				Shards:  2,
				Catalog: catalog,
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, file := range o.Files {
				got = append(got, file.Name, contents[i])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if !reflect.DeepEqual(o.Counts, c.counts) {
				t.Errorf("counts %+v, want %+v", o.Counts, c.counts)
			}
			removed := 0
			for _, packed := range worktest.Read(t, records.Removed, o.Run) {
				removed += len(packed) / records.RefSize
			}
			if removed != c.removed {
				t.Errorf("the run lists %d documents that go, want %d", removed, c.removed)
			}
		})
	}
}

// TestRowsFail: if a file cannot be made, the error names it, and nothing is left.
func TestRowsFail(t *testing.T) {
	r := &Rows{
		Files:  Files{Partial: "/does/not/exist", Format: output.JSONL},
		Inputs: listInputs(t, threeFiles),
		Emit:   []string{output.Pairs},
	}
	_, _, err := write(t, r, r.Partial, work.Task{Shards: 1, Catalog: shardOfThree(t)})
	if err == nil || !strings.Contains(err.Error(), "pairs-00000-of-00001.jsonl") {
		t.Errorf("error %v", err)
	}
	r = &Rows{Inputs: work.Path(t.TempDir()) + "/none"}
	if err := r.Setup(); err == nil {
		t.Error("no list of inputs, yet no error")
	}
}

// TestRowsStop: rows end, however many there are, when nobody wants them any more. No file is left.
func TestRowsStop(t *testing.T) {
	f := Files{Partial: work.Path(t.TempDir()), Format: output.JSONL}
	endless := func(row func(output.Pair) error) error {
		for {
			if err := row(output.Pair{A: "a", B: "b"}); err != nil {
				return err
			}
		}
	}
	asked, fault := 0, errors.New("stop")
	_, err := f.Shard(nil, endless, f.Name(output.Pairs, 0, 1), output.SetPair, output.Names{}, func() error {
		if asked++; asked == 3 {
			return fault
		}
		return nil
	})
	if entries, _ := os.ReadDir(string(f.Partial)); !errors.Is(err, fault) || asked != 3 || len(entries) > 0 {
		t.Errorf("asked %d times, %d files: %v", asked, len(entries), err)
	}
}

// TestMemoryIsGivenBack: the task of a shard begins with the least memory possible.
func TestMemoryIsGivenBack(t *testing.T) {
	r := &Rows{Files: Files{Partial: work.Path(t.TempDir()), Format: output.JSONL}, Inputs: listInputs(t, threeFiles)}
	if err := r.Setup(); err != nil {
		t.Fatal(err)
	}
	_, err := worktest.Try(t, worktest.Runs(t), work.Task{Shards: 1},
		func(ctx context.Context, task work.Task, w *work.TaskContext) error {
			w.Buffers[0], w.Figures.Records = make([]byte, 1<<20), 7
			if err := r.Task(ctx, task, w); err != nil {
				return err
			}
			if cap(w.Buffers[0]) > 0 || w.Figures.Records != 7 {
				t.Errorf("%d bytes are held, %d records counted", cap(w.Buffers[0]), w.Figures.Records)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}
