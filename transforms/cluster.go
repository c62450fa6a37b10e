package transforms

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/match/recall"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/clusters"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/sites/mirrors"
)

// Cluster joins the verified edges to connected components, orders the components by their first documents and cuts
// that order into output shards. It sends the edges and documents of each component to its shard.
//
// It takes the outcomes of several stages, PCollection<[]byte> each: Fingerprint; Group, whose edges join identical
// documents; and, where the job has them, Score, Gather, Audit and Source. The run files of Gather may go then. It returns one
// of outcomes with members and edges by output shard.
func Cluster(s beam.Scope, job *Job, outcomes ...beam.PCollection) beam.PCollection {
	at, label := job.stage(s, work.Cluster), job.stage(s, work.Cluster).part("label")
	labelling := labelling{ByValue: job.HasSources(), Labelling: clusters.Labelling{
		Inputs: job.Inputs, GraphBytes: job.GraphBytes,
		ReleaseSets: !slices.Contains(job.Rows.Emit, output.Sketches) && !slices.Contains(job.Rows.Emit, output.Index),
	}}
	sending := clusters.Sending{Inputs: job.Inputs, ByValue: job.HasSources(), ForNext: job.Rows.ForNext}
	return sideBySide(at, &clusterFn{newTasks(at, sending)}, plan(label, &labelFn{newStep(label, labelling)}, outcomes...))
}

// clusterFn sends edges or documents to their output shards: the edges of a part, or the documents of a split that are
// in clusters.
type clusterFn struct{ taskFn[clusters.Sending] }

// labelFn finds the components of the similarity graph and makes the tasks that send their documents and edges to the
// output shards.
type labelFn struct{ stepFn[labelling] }

// labelling is the work of labelFn. The audit sees which pairs the graph has joined.
type labelling struct {
	clusters.Labelling
	// ByValue says that sources are to be chosen among the values of a field.
	ByValue bool

	layout documents.Layout // read in Setup
}

// Setup reads the layout of the inputs.
func (l *labelling) Setup() error {
	return errors.Join(l.Labelling.Setup(), l.layout.Read(string(l.Inputs)))
}

// Plan chooses sources, labels the graph, judges the audit by the labels and makes the tasks.
func (l *labelling) Plan(_ context.Context, p *work.Planning) error {
	if l.ByValue {
		if err := clusters.ChooseSources(p); err != nil {
			return err
		}
	}
	judge, err := recall.NewJudge(p, l.layout.FirstInput)
	if err != nil {
		return err
	}
	if err := l.Labelling.Plan(p, judge.See); err != nil {
		return err
	}
	return judge.Write(string(p.Runs.Folder))
}

// Write decides which documents of each cluster are kept. It writes the output files, under temporary names, and a
// result that lists them.
//
// It takes the outcomes of Cluster and Fingerprint, PCollection<[]byte> each. The outcomes of other stages only add to the
// counts. It returns one of the outcomes that name the files of clusters, pairs, removed documents and rejects.
func Write(s beam.Scope, job *Job, clusters, sketches beam.PCollection, others ...beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Write)
	ofShards := work.Delivery{Output: true, Extra: []runfile.Kind{records.ShardMembers, records.ShardEdges, records.ShardSpans, records.Rejects}}
	written := sideBySide(at, &writeFn{newTasks(at, job.Rows)}, exchange(at, ofShards, clusters, sketches))
	outcomes := append([]beam.PCollection{written, clusters, sketches}, others...)

	for _, name := range []string{output.Unique, output.Annotated} {
		if slices.Contains(job.Rows.Emit, name) {
			outcomes = append(outcomes, copies(at.part(name), name == output.Annotated, written, sketches))
		}
	}
	ofDocuments := work.Delivery{Output: true, Extra: []runfile.Kind{records.Documents, records.Sets}}
	if slices.Contains(job.Rows.Emit, output.Sketches) {
		at := at.part("sketches")
		outcomes = append(outcomes, sideBySide(at, &sketchesFn{newTasks(at, write.Sketches{
			Files: job.Rows.Files, Inputs: job.Inputs, Hashes: job.SketchHashes, Bits: job.Parameters.SimHashBits,
		})}, exchange(at, ofDocuments, sketches)))
	}
	if slices.Contains(job.Rows.Emit, output.Index) {
		at := at.part("index")
		outcomes = append(outcomes, sideBySide(at, &indexFn{newTasks(at, job.Index)}, exchange(at, ofDocuments, sketches)))
	}
	finish := at.part("finish")
	beam.ParDo0(finish.Scope, &finishFn{Folder: job.Runs.Folder, ByValue: job.HasSources()}, together(finish, outcomes...))
	return written
}

// copies copies the kept records of the input, or all of them with annotations.
func copies(s stage, annotate bool, written, sketches beam.PCollection) beam.PCollection {
	unique := write.Unique{
		Annotate: annotate, Partial: s.job.Rows.Partial, Inputs: s.job.Inputs, Reading: s.job.Fingerprinting.Reading,
	}
	ofSplits := work.Delivery{Shards: max(s.job.Splits, 1), Extra: []runfile.Kind{records.Documents, unique.Reads(), records.Sums}}
	var fn any = &uniqueFn{newTasks(s, unique)}
	if annotate {
		fn = &annotatedFn{newTasks(s, unique)}
	}
	return sideBySide(s, fn, exchange(s, ofSplits, written, sketches))
}

type writeFn struct{ taskFn[write.Rows] }

// uniqueFn writes the kept records of the input files that start in a split, and annotatedFn the annotated records.
type (
	uniqueFn    struct{ taskFn[write.Unique] }
	annotatedFn struct{ taskFn[write.Unique] }
)

type sketchesFn struct{ taskFn[write.Sketches] }

type indexFn struct{ taskFn[write.Index] }

// WriteSites writes the rows of all sites: PCollection<[]byte> of the outcomes of Mirror to one of outcomes with the files.
// The outcomes of Fingerprint only say how many documents there are.
func WriteSites(s beam.Scope, job *Job, sketches, sites, groups beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Write).part("sites")
	rows := mirrors.SiteRows{Judging: job.Sites, Results: job.siteResults()}
	return sideBySide(at, &sitesFn{newTasks(at, rows)}, exchange(at, rows.Delivery(), sites, groups, sketches))
}

// sitesFn writes the rows of the sites of an output shard.
type sitesFn struct{ taskFn[mirrors.SiteRows] }

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

// Mirror finds the pairs of sites that have much in common and their groups, and writes their rows: PCollection<[]byte> of
// fingerprint and site outcomes to two of outcomes, with all sites by output shard, and with the groups of some of them.
func Mirror(s beam.Scope, job *Job, sketches, sums beam.PCollection) (sites, groups beam.PCollection) {
	at := job.stage(s, work.Mirror)
	totalling := mirrors.Totalling{Limits: job.Sites.Limits}
	sites = sideBySide(at, &totalFn{newTasks(at, totalling)}, exchange(at.part("total"), totalling.Delivery(), sketches, sums))
	pairing := mirrors.Pairing{Judging: job.Sites}
	pairs := sideBySide(at, &pairFn{newTasks(at, pairing)}, exchange(at.part("pair"), pairing.Delivery(), sites))
	grouping := mirrors.Grouping{Judging: job.Sites, Results: job.siteResults(), ForNext: job.Rows.ForNext}
	return sites, sideBySide(at, &mirrorFn{newTasks(at, grouping)}, exchange(at.part("group"), grouping.Delivery(), pairs, sketches))
}

// totalFn adds up the sums of the sites in a range of hashes.
type totalFn struct{ taskFn[mirrors.Totalling] }

type pairFn struct{ taskFn[mirrors.Pairing] }

type mirrorFn struct{ taskFn[mirrors.Grouping] }

// Site sums up what sites have in common: PCollection<[]byte> of cluster outcomes to one of outcomes with sums by range of
// hashes of sites. Only jobs about sites have this stage.
func Site(s beam.Scope, job *Job, clusters beam.PCollection) beam.PCollection {
	at := job.stage(s, work.Site)
	pages := job.Fingerprinting.Kept.Pages
	summing := mirrors.Summing{Judging: job.Sites, Rule: pages.Rule, Ranges: pages.Ranges}
	return sideBySide(at, &siteFn{newTasks(at, summing)}, exchange(at, summing.Delivery(), clusters))
}

type siteFn struct{ taskFn[mirrors.Summing] }
