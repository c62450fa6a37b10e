package outputs

import (
	"bytes"
	"context"
	"slices"

	"mirrorbeam/internal/clusters"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Rows writes the rows of an output shard: clusters, pairs, removed documents and, in the first shard, all rejects.
type Rows struct {
	Files
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Emit names the outputs that the job writes. Rejects are always written.
	Emit []string
	// Undecided says that all documents are kept, whatever they have in common: only pairs are written.
	Undecided bool
	// Keep says which documents of a cluster are preferred.
	Keep keep.Preference
	// Split says what makes a cluster.
	Split keep.Split
	// Least is the least similarity of an edge, from 0 to 1.
	Least float64

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (r *Rows) Setup() error { return r.layout.Read(string(r.Inputs)) }

// Task writes the rows of one output shard. Its run lists the removed documents, if the job writes unique.
func (r *Rows) Task(_ context.Context, t work.Task, w *work.Desk) error {
	// The largest cluster may need all the memory there is, so the task drops the buffers of earlier tasks.
	*w.Memory = work.Memory{Figures: w.Figures, Run: w.Run}
	shard, err := clusters.ReadShard(&r.layout, w)
	if err != nil {
		return err
	}
	if !r.Undecided {
		shard.Decide(r.Keep, r.Split)
	}
	shard.Count(w.Outcome)
	shard.CountSources(&w.Outcome.Sources)
	if !r.Undecided {
		if err := shard.Doubt(w.Outcome, r.Least, r.Split == keep.Component); err != nil {
			return err
		}
	}
	for _, rows := range []struct {
		output string
		write  func(row func([]byte) error) error
	}{{output.Clusters, shard.ClusterRows}, {output.Pairs, shard.PairRows}, {output.Removed, shard.RemovedRows}} {
		if !slices.Contains(r.Emit, rows.output) {
			continue
		}
		file, err := r.write(r.name(rows.output, t.Number, t.Shards), rows.write)
		if err != nil {
			return err
		}
		w.Figures.Bytes += file.Bytes
		w.Outcome.Files = append(w.Outcome.Files, file)
	}
	if t.Number == 0 {
		file, err := r.writeRejects(&w.Reader, w.Pieces)
		if err != nil {
			return err
		}
		w.Outcome.Files = append(w.Outcome.Files, file)
	}
	if !slices.Contains(r.Emit, output.Unique) {
		return nil
	}
	return shard.WriteRemoved(&w.Run)
}

// writeRejects writes the rejects of all splits in the order of the corpus.
func (r *Rows) writeRejects(reader *runfile.Reader, pieces []runfile.Piece) (output.File, error) {
	return r.write(r.name(output.Rejects, 0, 1), func(row func([]byte) error) error {
		var buffer []byte
		for _, piece := range pieces {
			if piece.Kind != records.Rejects {
				continue
			}
			var err error
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return err
			}
			for one := range bytes.Lines(buffer) {
				if err := row(one); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
