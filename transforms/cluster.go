package transforms

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/audit/auditing"
	"mirrorbeam.dev/internal/clusters"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs/union"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Cluster joins the verified edges to connected components, orders the components by their first documents and cuts
// that order into output shards. It takes the outcomes of Fingerprint; of Group, whose edges join identical documents;
// and, where the job has them, of Score, Gather, Audit and Source: PCollection<[]byte> each. The run files of Gather
// may go then. It returns one of outcomes with members and edges by output shard.
func Cluster(s beam.Scope, job *Job, outcomes ...beam.PCollection) beam.PCollection {
	at, label := job.stage(s, work.Cluster), job.stage(s, work.Cluster).part("label")
	ranges := job.JoinRanges
	if ranges > 0 {
		outcomes = append(outcomes, labelRanges(at, outcomes...))
	}
	labelling := labelling{ByValue: job.HasSources(), Labelling: clusters.Labelling{
		Inputs:      job.Inputs,
		GraphBytes:  job.GraphBytes,
		Ranges:      ranges,
		ReleaseSets: !slices.Contains(job.Rows.Emit, output.Sketches),
	}}
	sending := clusters.Sending{
		Inputs:     job.Inputs,
		ByValue:    job.HasSources(),
		ForNext:    job.Rows.ForNext,
		ByDistance: job.scorer.IsDistance,
		Ranges:     ranges,
	}
	return sideBySide(at, &clusterFn{newTasks(at, sending)},
		plan(label, &labelFn{newStep(label, labelling)}, outcomes...))
}

func labelRanges(at stage, outcomes ...beam.PCollection) beam.PCollection {
	job, ranges, step := at.job, at.job.ranges(), at.part("unite")
	delivery := union.SpreadingDelivery(records.EdgeNodes, job.JoinRanges, clusters.WithoutEdges...)
	return unite(at, delivery, unionFns{
		spread: &spreadEdgesFn{newTasks(at, union.Spreading{Ranges: ranges, Kind: records.EdgeNodes})},
		link:   &linkEdgesFn{newTasks(at, union.Linking{Ranges: ranges, Bytes: job.RangeBytes})},
		unite:  &uniteEdgesFn{newStep(step, uniting{union.Uniting{Ranges: ranges, GraphBytes: job.GraphBytes}})},
		move:   &moveEdgesFn{newTasks(at, union.Moving{Ranges: ranges})},
		finish: &labelRangeFn{newTasks(at, clusters.LabellingRange{Finishing: job.finishing()})},
	}, outcomes...)
}

func init() {
	declare(&spreadEdgesFn{}, &linkEdgesFn{}, &uniteEdgesFn{}, &moveEdgesFn{}, &labelRangeFn{}, &clusterFn{},
		&labelFn{})
}

// These label components by ranges; see [unite].
type (
	spreadEdgesFn struct{ taskFn[union.Spreading] }
	linkEdgesFn   struct{ taskFn[union.Linking] }
	uniteEdgesFn  struct{ stepFn[uniting] }
	moveEdgesFn   struct{ taskFn[union.Moving] }
	labelRangeFn  struct {
		taskFn[clusters.LabellingRange]
	}
)

// uniting is the work of uniteEdgesFn. It tells which documents the audit asks for.
type uniting struct{ union.Uniting }

// Plan names these documents and joins trees.
func (u *uniting) Plan(ctx context.Context, p *work.Planning) error {
	refs, err := auditing.Audited(p)
	if err == nil {
		err = clusters.WriteAudited(string(p.Runs.Folder), refs)
	}
	if err != nil {
		return err
	}
	return u.Uniting.Plan(ctx, p)
}

type (
	clusterFn struct{ taskFn[clusters.Sending] }
	labelFn   struct{ stepFn[labelling] }
)

// labelling is the work of labelFn. The audit sees which pairs the graph has joined.
type labelling struct {
	clusters.Labelling
	// ByValue says that sources are to be chosen among the values of a field.
	ByValue bool

	layout documents.Layout // read in Setup
}

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
	judge, err := auditing.NewJudge(p, l.layout.FirstInput)
	if err != nil {
		return err
	}
	if err := l.Labelling.Plan(p, judge.See); err != nil {
		return err
	}
	return judge.Write(string(p.Runs.Folder))
}
