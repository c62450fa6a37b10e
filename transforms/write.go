package transforms

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/sites/mirrors"
)

func init() {
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterDoFn(&uniqueFn{})
	beam.RegisterDoFn(&annotatedFn{})
	beam.RegisterDoFn(&sketchesFn{})
	beam.RegisterDoFn(&indexFn{})
	beam.RegisterDoFn(&sitesFn{})
	beam.RegisterDoFn(&finishFn{})
}

// Write decides which documents of each cluster are kept. It writes the output files, under temporary names, and a
// result that lists them.
//
// It takes the outcomes of Cluster and Fingerprint, PCollection<[]byte> each. The outcomes of other stages only add to the
// counts. It returns one of the outcomes that name the files of clusters, pairs, removed documents and rejects.
func Write(s beam.Scope, job *Job, clusters, sketches beam.PCollection, others ...beam.PCollection) beam.PCollection {
	s = s.Scope("write")
	ofShards := work.Delivery{Output: true, Extra: []runfile.Kind{records.ShardMembers, records.ShardEdges, records.ShardSpans, records.Rejects}}
	written := sideBySide(s, &writeFn{Work: job.Rows, bundle: job.bundle()}, exchange(s, job, ofShards, clusters, sketches))
	outcomes := append([]beam.PCollection{written, clusters, sketches}, others...)

	for _, name := range []string{output.Unique, output.Annotated} {
		if !slices.Contains(job.Rows.Emit, name) {
			continue
		}
		s := s.Scope(name)
		unique := write.Unique{
			Annotate: name == output.Annotated,
			Partial:  job.Rows.Partial, Inputs: job.Inputs, Reading: job.Fingerprinting.Reading,
		}
		ofSplits := work.Delivery{Shards: max(job.Splits, 1), Extra: []runfile.Kind{records.Documents, unique.Reads(), records.Sums}}
		var fn any = &uniqueFn{bundle: job.bundle(), Work: unique}
		if unique.Annotate {
			fn = &annotatedFn{uniqueFn{bundle: job.bundle(), Work: unique}}
		}
		outcomes = append(outcomes, sideBySide(s, fn, exchange(s, job, ofSplits, written, sketches)))
	}
	ofDocuments := work.Delivery{Output: true, Extra: []runfile.Kind{records.Documents, records.Sets}}
	if slices.Contains(job.Rows.Emit, output.Sketches) {
		s := s.Scope("sketches")
		outcomes = append(outcomes, sideBySide(s, &sketchesFn{bundle: job.bundle(), Work: write.Sketches{
			Files: job.Rows.Files, Inputs: job.Inputs, Hashes: job.SketchHashes, Bits: job.Parameters.SimHashBits,
		}}, exchange(s, job, ofDocuments, sketches)))
	}
	if slices.Contains(job.Rows.Emit, output.Index) {
		s := s.Scope("index")
		outcomes = append(outcomes, sideBySide(s, &indexFn{bundle: job.bundle(), Work: job.Index}, exchange(s, job, ofDocuments, sketches)))
	}
	s = s.Scope("finish")
	beam.ParDo0(s, &finishFn{Folder: job.Runs.Folder, ByValue: job.HasSources()}, together(s, outcomes...))
	return written
}

var writeStage = newStage(work.Write)

// writeFn writes the rows of an output shard.
type writeFn struct {
	Work write.Rows

	bundle
}

func (f *writeFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, &f.Work)
}

// uniqueFn writes the kept records of the input files that start in a split.
type uniqueFn struct {
	Work write.Unique

	bundle
}

func (f *uniqueFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, &f.Work)
}

// annotatedFn writes the annotated records of these files. It has a type of its own for the reason of [gatherSetsFn].
type annotatedFn struct{ uniqueFn }

// sketchesFn writes the sketches of the documents of some splits.
type sketchesFn struct {
	Work write.Sketches

	bundle
}

func (f *sketchesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, &f.Work)
}

// indexFn writes an index of the documents of some splits.
type indexFn struct {
	Work write.Index

	bundle
}

func (f *indexFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, &f.Work)
}

// WriteSites writes the rows of all sites: PCollection<[]byte> of the outcomes of Mirror to one of outcomes with the files.
// The outcomes of Fingerprint only say how many documents there are.
func WriteSites(s beam.Scope, job *Job, sketches, sites, groups beam.PCollection) beam.PCollection {
	s = s.Scope("sites")
	rows := mirrors.SiteRows{Judging: job.Sites, Results: job.siteResults()}
	return sideBySide(s, &sitesFn{Work: rows, bundle: job.bundle()}, exchange(s, job, rows.Delivery(), sites, groups, sketches))
}

// sitesFn writes the rows of the sites of an output shard.
type sitesFn struct {
	Work mirrors.SiteRows

	bundle
}

func (f *sitesFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, writeStage, element, &f.Work)
}

// finishFn sums up the outcomes of all stages.
type finishFn struct {
	// Folder is the job's own folder, which gets the result.
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
