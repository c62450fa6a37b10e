package transforms

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// groupStages are the stages whose outcomes [Group] returns. Hot groups are gathered and scored there.
var groupStages = []work.Stage{work.Group, work.Gather, work.Score}

// Write decides which documents of each cluster are kept. It writes the output files, under temporary names, and a
// result that lists them. It takes the outcomes of Cluster, Fingerprint and Group, PCollection<[]byte> each, and of
// Trim, if any. Outcomes of other stages only add to the counts. It returns the outcomes that name the files of
// clusters, pairs, removed documents and rejects.
func Write(s beam.Scope, job *Job, clusters, sketches, groups beam.PCollection, trims []beam.PCollection,
	others ...beam.PCollection,
) beam.PCollection {
	at := job.stage(s, work.Write)
	ofShards := work.Delivery{
		Output:      true,
		Extra:       []runfile.Kind{records.ShardMembers, records.ShardEdges, records.ShardSpans, records.Rejects},
		OnlyCounted: groupStages,
	}
	named := []beam.PCollection{clusters}
	if job.Parameters.HasSides {
		named = append(named, groups) // which count the documents that share an id
	}
	written := sideBySide(at, &writeFn{newTasks(at, job.Rows)}, exchange(at, ofShards, append(named, sketches)...))
	outcomes := slices.Concat([]beam.PCollection{written, clusters, sketches, groups}, trims, others)

	for _, name := range []string{output.Unique, output.Annotated} {
		if slices.Contains(job.Rows.Emit, name) {
			outcomes = append(outcomes,
				copies(at.part(name), name, append([]beam.PCollection{written, sketches}, named...)...))
		}
	}
	if slices.Contains(job.Rows.Emit, output.Trimmed) {
		outcomes = append(outcomes, copies(at.part(output.Trimmed), output.Trimmed, trims[len(trims)-1], sketches))
	}
	if slices.Contains(job.Rows.Emit, output.Passages) {
		at := at.part(output.Passages)
		rows := write.Passages{
			Files:   job.Rows.Files,
			Splits:  job.Splits,
			OfItems: job.Trimming.Rule.Unit == trim.Items,
		}
		outcomes = append(outcomes,
			sideBySide(at, &cutRowsFn{newTasks(at, rows)},
				exchange(at, write.PassagesDelivery(), trims[len(trims)-1], sketches, clusters)))
	}
	if slices.Contains(job.Rows.Emit, output.Sketches) {
		ofDocuments := work.Delivery{
			Output:      true,
			Extra:       []runfile.Kind{records.Documents, records.Sets},
			OnlyCounted: append(groupStages, work.Cluster),
		}
		at := at.part("sketches")
		outcomes = append(outcomes, sideBySide(at, &sketchesFn{newTasks(at, write.Sketches{
			Files:  job.Rows.Files,
			Inputs: job.Inputs,
			Hashes: job.SketchHashes,
			Bits:   job.Parameters.SimHashBits,
		})}, exchange(at, ofDocuments, append([]beam.PCollection{sketches}, named...)...)))
	}
	finish := at.part("finish")
	beam.ParDo0(finish.Scope, &finishFn{Folder: job.Runs.Folder, ByValue: job.HasSources()},
		together(finish, outcomes...))
	return written
}

// copies copies records of the input, as an output has them. The outcomes come from the tasks that read documents and
// say what becomes of them. The outcomes of Cluster and Group only add to the counts.
func copies(s stage, name string, outcomes ...beam.PCollection) beam.PCollection {
	copies := write.Unique{
		Output:  name,
		Columns: job.ColumnsOf(name, s.job.Rows.Columns),
		Layout:  s.job.Layout,
		Partial: s.job.Rows.Partial,
		Inputs:  s.job.Inputs,
		Reading: s.job.Fingerprinting.Reading,
	}
	ofSplits := copies.Delivery(s.job.Splits, append(groupStages, work.Cluster)...)
	var fn any
	switch name {
	case output.Annotated:
		fn = &annotatedFn{newTasks(s, copies)}
	case output.Trimmed:
		fn = &trimmedFn{newTasks(s, copies)}
	default:
		fn = &uniqueFn{newTasks(s, copies)}
	}
	return sideBySide(s, fn, exchange(s, ofSplits, outcomes...))
}

func init() {
	declare(&writeFn{}, &uniqueFn{}, &annotatedFn{}, &trimmedFn{}, &cutRowsFn{}, &sketchesFn{}, &finishFn{})
}

// uniqueFn writes the kept records of the input files that start in a split, annotatedFn the annotated records, and
// trimmedFn the records without passages that were cut.
type (
	writeFn     struct{ taskFn[write.Rows] }
	uniqueFn    struct{ taskFn[write.Unique] }
	annotatedFn struct{ taskFn[write.Unique] }
	trimmedFn   struct{ taskFn[write.Unique] }
	cutRowsFn   struct{ taskFn[write.Passages] }
	sketchesFn  struct{ taskFn[write.Sketches] }
)

type finishFn struct {
	Folder work.Path
	// ByValue says that sources are values of a field.
	ByValue bool
}

func (f *finishFn) ProcessElement(_ context.Context, _ int64, elements func(*[]byte) bool) error {
	outcomes, _, err := work.ReadOutcomes(elements)
	if err == nil {
		err = write.Finish(string(f.Folder), outcomes, f.ByValue)
	}
	if err != nil {
		return work.MarkFault(fmt.Errorf("finish: %w", err))
	}
	return nil
}
