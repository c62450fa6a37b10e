package recut

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// input is the input of the run, read again: which documents there are. Nothing is fingerprinted.
type input struct {
	documents.Fingerprinting

	layout documents.Layout
	runs   work.Runs
	read   []work.Outcome // of the tasks that have read the splits
	counts findings.Counts
}

// readInput reads the input of the run whose settings these are. The error is of a kind.
func readInput(ctx context.Context, c *job.Config, temp string) (*input, error) {
	inputs, size, err := listing.Apart(ctx, c, listing.Earlier{})
	if err != nil {
		return nil, err
	}
	if inputs.Ranking, err = c.ReadRanking(); err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	sizing := c.Sizing(size)
	in := &input{
		Fingerprinting: documents.Fingerprinting{
			Sketching: c.Sketching(sizing.WindowBytes),
			Inputs:    work.Path(storage.Join(temp, "inputs")),
			Kept:      documents.Kept{Marking: documents.Marking{Keep: c.Keep}, OnlyMarks: true},
			Checksums: true,
		},
		runs: work.Runs{
			Folder:     work.Path(temp),
			Held:       sizing.RunBytes,
			Ahead:      sizing.AheadBytes,
			LargeBytes: sizing.LargeBytes,
		},
	}
	in.Options.SimHashBits = 0
	err = documents.WriteInputs(string(in.Inputs), inputs)
	if err == nil {
		err = cmp.Or(in.Setup(), in.layout.Read(string(in.Inputs)))
	}
	if err != nil {
		return nil, failure.Explain(c, failure.Storage, err)
	}
	tasks := make([]work.Task, len(inputs.Splits))
	for i := range tasks {
		tasks[i].Number = i
	}
	if in.read, err = in.do(ctx, tasks, in.Task); err != nil {
		return nil, failure.OfTask(c, work.NewFault(err))
	}
	for _, o := range in.read {
		findings.Merge(&in.counts, o.Counts)
	}
	return in, nil
}

// do does tasks on all cores and returns their outcomes.
func (in *input) do(ctx context.Context, tasks []work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) ([]work.Outcome, error) {
	outcomes := make([]work.Outcome, len(tasks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(work.Cores())
	for i, task := range tasks {
		group.Go(func() error {
			w := work.TaskContext{Memory: &work.Memory{}, Runs: in.runs, Outcome: &outcomes[i], Hold: func(any) {}}
			return work.Shielded(func() error { return w.Do(ctx, task, do) })
		})
	}
	return outcomes, group.Wait()
}

// rows reads the pairs of the run from a threshold on, and takes their documents from the input, which must have as
// many documents and bytes as when the run read it.
func (in *input) rows(ctx context.Context, folder *finished.Folder, threshold float64) (*rows, error) {
	counts := &in.counts
	if was := &folder.Summary.Counts; counts.Documents != was.Documents || counts.Bytes != was.Bytes ||
		counts.ReferenceDocuments != was.ReferenceDocuments || counts.ReferenceBytes != was.ReferenceBytes {
		return nil, fmt.Errorf("the input has changed since the run in %s: it has %d documents in %d bytes, and had %d "+
			"in %d: run the job again", folder.Path, counts.Documents, counts.Bytes, was.Documents, was.Bytes)
	}
	wanted := map[string]bool{}
	for pair, err := range finished.Rows[output.Pair](ctx, folder, output.Pairs) {
		if err != nil {
			return nil, err
		}
		wanted[pair.A], wanted[pair.B] = true, true
	}
	r, all := &rows{input: in, layout: in.layout}, []document{}
	add := func(block *sketchblock.Block, _ runfile.Piece) error {
		for i := range block.Len() {
			ref, capture := in.layout.Inputs.Name(block.Ref(i)), records.CaptureOf(block.Capture(i))
			d := document{ref: quoting.Text(ref), id: quoting.Text(cmp.Or(string(block.ID(i)), ref))}
			if !wanted[d.id] && !wanted[d.ref] {
				continue
			}
			all = append(all, d)
			r.members = append(r.members, records.Member{
				Ref:      block.Ref(i),
				Priority: block.Priority(i),
				Ties:     block.Ties(i),
				Source:   in.layout.Inputs.SourceOf(block.Ref(i)),
				Id:       string(block.ID(i)),
				Capture:  &capture,
			})
		}
		return nil
	}
	for _, run := range work.RunsOf(in.read) {
		pieces, err := runfile.Pieces(run)
		if err != nil {
			return nil, err
		}
		w := work.TaskContext{Memory: &work.Memory{}, Pieces: pieces}
		err = w.EachBlock(ctx, add)
		w.Reader.Close()
		if err != nil {
			return nil, err
		}
	}
	return r, r.join(ctx, folder, all, threshold)
}

// copies writes copies of the records of the input, as the decided shards say.
func (in *input) copies(ctx context.Context, c *job.Config, f write.Files, shards []*clusters.Shard,
	found *findings.Findings,
) (files []output.File, err error) {
	if !c.EmitsCopies() {
		return nil, nil
	}
	var run runfile.Writer
	in.runs.Begin(&run)
	defer run.Abort()
	for _, shard := range shards {
		if err := write.ForCopies(shard, &run, c.Emit, c.Columns); err != nil {
			return nil, err
		}
	}
	decided, err := run.Close()
	if err != nil {
		return nil, err
	}
	for _, name := range copies {
		if !slices.Contains(c.Emit, name) {
			continue
		}
		u, tasks := write.Unique{
			Output:  name,
			Columns: job.ColumnsOf(name, c.Columns),
			Layout:  c.Layout,
			Partial: f.Partial,
			Inputs:  in.Inputs,
			Reading: in.Reading,
		}, []work.Task{}
		delivery, runs := u.Delivery(len(in.layout.Inputs.Splits)), work.RunsOf(append(in.read, work.Outcome{Run: decided}))
		err := cmp.Or(u.Setup(), delivery.Deliver(string(in.runs.Folder), runs, found.Counts,
			func(t work.Task) { tasks = append(tasks, t) }))
		if err != nil {
			return nil, err
		}
		outcomes, err := in.do(ctx, tasks, u.Task)
		if err != nil {
			return nil, failure.OfTask(c, work.NewFault(err))
		}
		for _, o := range outcomes {
			files = append(files, o.Files...)
			findings.Merge(found, o.Findings)
		}
	}
	sides, err := write.Sides(f, in.layout.Inputs, c.Layout, c.Emit)
	return append(files, sides...), err
}
