package transforms

import (
	"bytes"
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/clusters"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&writeFn{})
}

// Write decides which documents of each cluster stay and writes the output
// files, under temporary names, and a result that lists them.
//
// It takes the outcomes of Cluster and Fingerprint and, to sum up the counts, of
// other stages.
func Write(s beam.Scope, job Job, clusters, sketches beam.PCollection, others ...beam.PCollection) {
	s = s.Scope("write")
	tasks := exchange(s, job, work.Delivery{Output: true, Extra: []runfile.Kind{records.ShardMembers, records.ShardEdges, records.ShardSpans, records.Rejects}}, clusters, sketches)
	written := sideBySide(s, &writeFn{Job: job, bundle: newBundle(job)}, tasks)
	outcomes := append([]beam.PCollection{written, sketches}, others...)
	if slices.Contains(job.Emit, output.Unique) {
		outcomes = append(outcomes, unique(s.Scope("unique"), job, written, sketches))
	}
	if slices.Contains(job.Emit, output.Sketches) {
		outcomes = append(outcomes, writeSketches(s.Scope("sketches"), job, sketches))
	}
	if slices.Contains(job.Emit, output.Index) {
		outcomes = append(outcomes, writeIndex(s.Scope("index"), job, sketches))
	}
	beam.ParDo0(s.Scope("finish"), &finishFn{Temp: []byte(job.Temp)}, together(s.Scope("finish"), outcomes...))
}

var writeStage = newStage(work.Write)

// writeFn writes the rows of an output shard.
type writeFn struct {
	Job Job

	bundle

	inputs *documents.Inputs // read in Setup
}

func (f *writeFn) Setup() (err error) {
	f.inputs, err = documents.OpenInputs(f.Job.Inputs)
	return err
}

func (f *writeFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		// The largest cluster may need all there is: nothing of earlier tasks is
		// of use here.
		*w.Memory = work.Memory{Figures: w.Figures, Run: w.Run}
		return f.shard(t, w)
	})
}

func (f *writeFn) shard(t work.Task, w *work.Place) error {
	o := w.Outcome
	members, err := records.ReadMembers(&w.Reader, w.Pieces)
	if err != nil {
		return err
	}
	edges, err := records.ReadEdges(&w.Reader, w.Pieces)
	if err != nil {
		return err
	}
	shard, err := newOutputShard(f.inputs, members, edges)
	if err != nil {
		return err
	}
	shard.countPairs(&o.Counts)
	if f.Job.Similarity == methods.Containment {
		// A passage in common is no reason to go, nor to be one of a cluster.
		shard.spans, err = records.ReadSpans(&w.Reader, w.Pieces)
		if err != nil {
			return err
		}
	} else {
		shard.decide(f.Job.Keep)
		o.Skipped.Kept = shard.unchecked(f.Job.Keep)
		if f.Job.Split == clusters.Star {
			shard.splitStars()
		}
		shard.count(&o.Counts)
	}
	w.Figures.Records += int64(len(members) + len(edges))

	number, shards := t.Number, t.Shards
	for _, rows := range []struct {
		output string
		write  func(row func([]byte) error) error
	}{{output.Clusters, shard.clusterRows}, {output.Pairs, shard.pairRows}, {output.Removed, shard.removedRows}} {
		if !slices.Contains(f.Job.Emit, rows.output) {
			continue
		}
		name := output.ShardName(rows.output, number, shards, f.Job.Format)
		file, err := writeFile(f.Job, output.File{Name: name, Output: rows.output}, rows.write)
		if err != nil {
			return err
		}
		w.Figures.Bytes += file.Bytes
		o.Files = append(o.Files, file)
	}
	if number == 0 {
		file, err := writeRejects(f.Job, &w.Reader, w.Pieces)
		if err != nil {
			return err
		}
		o.Files = append(o.Files, file)
	}
	if !slices.Contains(f.Job.Emit, output.Unique) {
		return nil
	}
	return shard.writeRemovedRefs(&w.Run)
}

// writeFile makes one output file of what write passes to its row function.
func writeFile(job Job, file output.File, write func(row func([]byte) error) error) (output.File, error) {
	w, err := output.NewWriter(job.Partial, file, job.Format)
	if err != nil {
		return output.File{}, err
	}
	defer w.Abort()
	if err := write(w.Row); err != nil {
		return output.File{}, err
	}
	return w.Close()
}

// writeRejects writes the rejects of all splits in the order of the corpus.
func writeRejects(job Job, reader *runfile.Reader, pieces []runfile.Piece) (output.File, error) {
	file := output.File{Name: output.ShardName(output.Rejects, 0, 1, job.Format), Output: output.Rejects}
	return writeFile(job, file, func(row func([]byte) error) error {
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
