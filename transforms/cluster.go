package transforms

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/recall"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/clusters"
)

func init() {
	beam.RegisterDoFn(&labelFn{})
	beam.RegisterDoFn(&clusterFn{})
}

// Cluster joins the verified edges to connected components, orders the components by their first documents and cuts
// that order into output shards. It sends the edges and documents of each component to its shard.
//
// It takes the outcomes of several stages, PCollection<[]byte> each: Fingerprint; Group, whose edges join identical
// documents; and, where the job has them, Score, Gather, Audit and Source. The run files of Gather may go then. It returns one
// of outcomes with members and edges by output shard.
func Cluster(s beam.Scope, job *Job, outcomes ...beam.PCollection) beam.PCollection {
	s = s.Scope("cluster")
	label := &labelFn{planner: job.planner(s), Work: clusters.Labelling{
		Inputs: job.Inputs, GraphBytes: job.GraphBytes,
		ReleaseSets: !slices.Contains(job.Rows.Emit, output.Sketches) && !slices.Contains(job.Rows.Emit, output.Index),
	}, ByValue: job.HasSources()}
	tasks := beam.ParDo(s.Scope("label"), label, together(s.Scope("label"), outcomes...))
	return sideBySide(s, &clusterFn{Work: clusters.Sending{Inputs: job.Inputs, ByValue: job.HasSources(), ForNext: job.Rows.ForNext}, bundle: job.bundle()}, tasks)
}

var clusterStage = newStage(work.Cluster)

// labelFn finds the components of the similarity graph and makes the tasks that send their documents and edges to the
// output shards. The audit sees which pairs the graph has joined.
type labelFn struct {
	Work clusters.Labelling
	// ByValue says that sources are to be chosen among the values of a field.
	ByValue bool

	planner

	layout documents.Layout // read in setup
}

func (f *labelFn) setup() error {
	return errors.Join(f.Work.Setup(), f.layout.Read(string(f.Work.Inputs)))
}

func (f *labelFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, clusterStage, elements, emit, after(f.setup, f.Plan))
	return err
}

// Plan chooses sources, labels the graph, judges the audit by the labels and makes the tasks.
func (f *labelFn) Plan(_ context.Context, p *work.Planning) error {
	if f.ByValue {
		if err := clusters.ChooseSources(p); err != nil {
			return err
		}
	}
	judge, err := recall.NewJudge(p, f.layout.FirstInput)
	if err != nil {
		return err
	}
	if err := f.Work.Plan(p, judge.See); err != nil {
		return err
	}
	return judge.Write(string(p.Runs.Folder))
}

// clusterFn sends edges or documents to their output shards: the edges of a part, or the documents of a split that are
// in clusters.
type clusterFn struct {
	Work clusters.Sending

	bundle
}

func (f *clusterFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, clusterStage, element, &f.Work)
}
