// Package write writes the files of results, under temporary names. Each kind has a type of its own: [Rows] writes
// clusters, pairs, removed documents and rejects, [Unique] the kept documents, [Sketches] the sketches of the input. A
// [Result] lists the files of a job and its counts.
package write

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Rows writes the rows of an output shard: clusters, pairs, removed documents and, in the first shard, all rejects.
type Rows struct {
	Files
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Emit names the outputs that the job writes. Rejects are always written.
	Emit []string
	// Columns are the columns that unique and annotated get besides the usual ones of annotated.
	Columns []string
	// Pairs is the kind of the pairs, such as [output.SetPair].
	Pairs string
	// Undecided says that all documents are kept, whatever they have in common: only pairs are written.
	Undecided bool
	// Rule says what makes a cluster, and what is removed of it.
	Rule keep.Rule
	// TellsLost counts what text is lost with removed documents. Pairs must be scored by whole sets.
	TellsLost bool
	// ForNext writes what the next incremental run needs: which documents are in which cluster, and similar pairs.
	ForNext bool
	// KeepsPairs writes the pairs and their passages for the next run of a scheduled job.
	KeepsPairs bool
	// Least is the least similarity of an edge, from 0 to 1.
	Least float64
	// Bytes is about how much memory what decides about clusters takes; 0 for any amount. More is in files.
	Bytes int64

	layout documents.Layout // read in Setup
}

func (r *Rows) Setup() error { return r.layout.Read(string(r.Inputs)) }

// Task writes the rows of one output shard. Its run lists the removed documents if the job writes unique, and what is
// known of documents in clusters if it writes annotated.
func (r *Rows) Task(_ context.Context, t work.Task, w *work.TaskContext) error {
	// The largest cluster may need all the memory there is, so the task drops the buffers of earlier tasks.
	*w.Memory = work.Memory{Figures: w.Figures, Run: w.Run}
	shard, err := clusters.ReadShard(&r.layout, w, r.Bytes, r.Rule.Variants)
	if err != nil {
		return err
	}
	defer shard.Close()
	if !r.Undecided {
		if err := shard.Decide(r.Rule, w.Run.Stopped); err != nil {
			return err
		}
	}
	found, err := shard.Findings(r.Least)
	if err != nil {
		return err
	}
	if r.TellsLost {
		shard.AddLost(&found)
	}
	findings.Merge(&w.Outcome.Findings, found)
	pairs := func(row func(output.Pair) error) error { return shard.PairRows(r.Pairs, row) }
	for _, name := range []string{output.Clusters, output.Pairs, output.Removed} {
		if !slices.Contains(r.Emit, name) {
			continue
		}
		file, err := r.Shard(shard, pairs, r.Name(name, t.Number, t.Shards), r.Pairs, r.Names(t), w.Run.Stopped)
		if err != nil {
			return err
		}
		w.Figures.Bytes += file.Bytes
		w.Outcome.Files = append(w.Outcome.Files, file)
	}
	if t.Number == 0 {
		file, err := r.writeRejects(w)
		if err != nil {
			return err
		}
		w.Outcome.Files = append(w.Outcome.Files, file)
	}
	if err := r.note(w, shard); err != nil {
		return err
	}
	if err := ForCopies(shard, &w.Run, r.Emit, r.Columns); err != nil {
		return err
	}
	return shard.Err()
}

// ForCopies writes what becomes of the documents of a decided shard, for the outputs with copies of records.
func ForCopies(shard *clusters.Shard, run *runfile.Writer, emit, columns []string) (err error) {
	isUnique := slices.Contains(emit, output.Unique)
	if isUnique {
		err = shard.WriteRemoved(run)
	}
	if err == nil && (slices.Contains(emit, output.Annotated) || isUnique && len(columns) > 0) {
		err = shard.WriteAnnotations(run)
	}
	return err
}

func (r *Rows) note(w *work.TaskContext, shard *clusters.Shard) (err error) {
	if r.ForNext {
		err = errors.Join(shard.WriteMemberships(&w.Run), shard.WriteCachedPairs(&w.Run))
	}
	if err == nil && r.KeepsPairs {
		err = shard.WriteKept(&w.Run)
	}
	return err
}

// Shard writes the rows of clusters, removed documents or pairs, as the file says. Pairs passes the rows of pairs,
// which are of a kind. A cluster may be large, so Shard asks stopped now and then, and ends with its error.
func (f Files) Shard(
	shard *clusters.Shard, pairs func(row func(output.Pair) error) error, file output.File, kind string,
	names output.Names, stopped func() error,
) (output.File, error) {
	switch file.Output {
	case output.Clusters:
		rows, err := output.NewRows[output.Member](string(f.Partial), file, f.Format, names)
		return finish(rows, err, until(stopped, shard.ClusterRows))
	case output.Removed:
		rows, err := output.NewRemovalRows(string(f.Partial), file, f.Format, shard.IsDropped(), names)
		return finish(rows, err, until(stopped, shard.RemovedRows))
	}
	rows, err := output.NewPairRows(string(f.Partial), file, f.Format, kind, names)
	return finish(rows, err, until(stopped, pairs))
}

// until returns what passes rows until stopped has an error.
func until[T any](stopped func() error, pass func(row func(T) error) error) func(row func(T) error) error {
	const few = 1 << 12
	return func(row func(T) error) error {
		passed := 0
		return pass(func(of T) error {
			if passed++; passed%few == 0 {
				if err := stopped(); err != nil {
					return err
				}
			}
			return row(of)
		})
	}
}

// Rejects writes rejects that are known already.
func (f Files) Rejects(rejects []output.Reject) (output.File, error) {
	return writeRows(f, f.Name(output.Rejects, 0, 1), output.Names{HaveURLs: f.HaveURLs}, each(rejects))
}

// each passes rows that are known already.
func each[T any](rows []T) func(row func(T) error) error {
	return func(row func(T) error) error {
		for _, one := range rows {
			if err := row(one); err != nil {
				return err
			}
		}
		return nil
	}
}

func (r *Rows) writeRejects(w *work.TaskContext) (output.File, error) {
	file, names := r.Name(output.Rejects, 0, 1), output.Names{HaveURLs: r.HaveURLs}
	return writeRows(r.Files, file, names, func(row func(output.Reject) error) error {
		return copyRows(w, records.Rejects, output.Rejects, func(reject output.Reject) error {
			if w.Outcome.FirstReject == nil {
				w.Outcome.FirstReject = &reject
			}
			return row(reject)
		})
	})
}

// copyRows passes the rows of an output that tasks have written to pieces of a kind.
func copyRows[T any](w *work.TaskContext, kind runfile.Kind, of string, row func(T) error) error {
	var buffer []byte
	for piece := range kind.Of(w.Pieces) {
		var err error
		if buffer, err = w.Reader.Read(buffer[:0], piece); err != nil {
			return err
		}
		for line := range bytes.Lines(buffer) {
			var one T
			if err := json.Unmarshal(line, &one); err != nil {
				return fmt.Errorf("%s in %s: %w", of, piece.Path, err)
			}
			if err := row(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// Files says where output files are written, and how.
type Files struct {
	// Partial is the folder of output files that are not published yet.
	Partial work.Path
	Format  output.Format
	// HaveURLs says that web archives are among the files that documents come from.
	HaveURLs bool `json:",omitempty"`
	// HaveVariants says that pairs may be variants.
	HaveVariants bool `json:",omitempty"`
}

// Names says how the rows of a task call documents.
func (f Files) Names(t work.Task) output.Names {
	return output.Names{AreIntegers: t.IntegerNames, HaveURLs: f.HaveURLs, HaveVariants: f.HaveVariants}
}

// Name describes one file of an output, before it is written.
func (f Files) Name(of string, shard, shards int) output.File {
	return output.File{Name: output.ShardName(of, shard, shards, f.Format), Output: of}
}

// writeRows makes one output file of the rows that write passes to its row function.
func writeRows[T output.Row](f Files, file output.File, names output.Names,
	write func(row func(T) error) error,
) (output.File, error) {
	rows, err := output.NewRows[T](string(f.Partial), file, f.Format, names)
	return finish(rows, err, write)
}

func finish[T output.Row](rows *output.Rows[T], err error, write func(row func(T) error) error) (output.File, error) {
	if err != nil {
		return output.File{}, err
	}
	defer rows.Abort()
	if err := write(rows.Write); err != nil {
		return output.File{}, err
	}
	return rows.Close()
}

// Write makes one output file of the rows that write passes to its row function, and notes it in the outcome of a task.
func Write[T output.Row](f Files, file output.File, names output.Names, w *work.TaskContext,
	write func(row func(T) error) error,
) error {
	file, err := writeRows(f, file, names, write)
	if err != nil {
		return err
	}
	w.Figures.Bytes += file.Bytes
	w.Outcome.Files = append(w.Outcome.Files, file)
	return nil
}

// eachSplit visits the splits whose documents the task of an output shard writes, each with a task context of its own.
func eachSplit(t work.Task, splits int, m *work.Memory, visit func(*work.TaskContext) error) error {
	for split := t.Number * splits / t.Shards; split < (t.Number+1)*splits/t.Shards; split++ {
		pieces, err := runfile.ReadCatalog(t.Catalog, split)
		if err != nil {
			return err
		}
		w := &work.TaskContext{Memory: m, Pieces: pieces}
		err = visit(w)
		w.Reader.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

const rowsPerShard = 100_000

// WriteChanges writes what has changed since the last run of a scheduled job.
func WriteChanges(f Files, changes []output.Change) (files []output.File, err error) {
	shards := max((len(changes)+rowsPerShard-1)/rowsPerShard, 1)
	for shard := range shards {
		rows := changes[len(changes)*shard/shards : len(changes)*(shard+1)/shards]
		file, err := writeRows(f, f.Name(output.Changes, shard, shards), output.Names{}, each(rows))
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// ForNext is what a run finds that the next run of a scheduled job is to know.
type ForNext struct {
	// Clusters are groups of documents, Mirrors groups of sites. Suspects are the alerts.
	Clusters, Mirrors []state.Group
	Suspects          []state.Alert
	// CachedPairs are about the similar pairs, packed.
	CachedPairs []byte
}

// ReadForNext reads what tasks have written for the next run, in the order of their run files.
func ReadForNext(ctx context.Context, runs []work.Path) (*ForNext, error) {
	reader := runfile.Reader{Stopped: ctx.Err}
	defer reader.Close()
	var pieces []runfile.Piece
	for _, run := range runs {
		of, err := runfile.Pieces(string(run))
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, of...)
	}
	n := new(ForNext)
	packed, err := reader.ReadKind(nil, pieces, records.Memberships)
	if err == nil {
		n.Clusters, err = state.UnpackGroups(packed)
	}
	if err == nil {
		packed, err = reader.ReadKind(packed[:0], pieces, records.SiteGroups)
	}
	if err == nil {
		n.Mirrors, err = state.UnpackGroups(packed)
	}
	if err == nil {
		packed, err = reader.ReadKind(packed[:0], pieces, records.Alerts)
	}
	if err == nil {
		n.Suspects = slices.Collect(records.All[state.Alert](packed))
		n.CachedPairs, err = reader.ReadKind(nil, pieces, records.CachedPairs)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}
