package transforms

import (
	"context"
	"slices"
	"sort"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/sketchblock"
	"mirrorbeam/internal/work"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func([]byte), error](&labelFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&clusterFn{})
}

// Cluster joins the verified edges to connected components, orders the
// components by their first documents, cuts that order into output shards, and
// sends the edges and the documents of each component to its shard.
//
// It takes the outcomes of Fingerprint, of Group, whose edges join identical
// documents, and, where the job has them, of Score, of Gather, whose run files may go
// then, and of Audit, PCollection<[]byte> each. It returns one of outcomes with
// members and edges by output shard.
func Cluster(s beam.Scope, job Job, outcomes ...beam.PCollection) beam.PCollection {
	s = s.Scope("cluster")
	tasks := beam.ParDo(s.Scope("label"), &labelFn{Job: job, planner: planner{job.runs()}}, together(s.Scope("label"), outcomes...))
	return sideBySide(s, &clusterFn{Job: job, bundle: newBundle(job)}, tasks)
}

var clusterStage = newStage(work.Cluster)

// labelFn finds the components of the similarity graph, numbers their documents
// and makes the tasks that bring them and their edges to the output shards.
type labelFn struct {
	Job Job

	planner

	documents.Layout // read in Setup
}

func (f *labelFn) Setup() error { return f.Read(f.Job.Inputs) }

func (f *labelFn) ProcessElement(ctx context.Context, _ int64, elements func(*[]byte) bool, emit func([]byte)) error {
	_, err := f.plan(ctx, clusterStage, elements, emit, f.Plan)
	return err
}

// Plan labels the components and makes the tasks.
func (f *labelFn) Plan(_ context.Context, p *work.Planning) error {
	p.Runs.ReleaseStage(p.Outcomes, work.Gather)
	runs := work.RunsBut(p.Outcomes, work.Gather)
	graph, err := work.ReadGraph(runs, records.EdgeNodes, p.Memory)
	if err != nil {
		return err
	}
	if err := writeAudit(f.Job, p.Outcomes, graph, f.FirstInput, p.Memory); err != nil {
		return err
	}
	if !slices.Contains(f.Job.Emit, output.Sketches) && !slices.Contains(f.Job.Emit, output.Index) {
		p.Runs.ReleaseSets(p.Outcomes)
	}
	labels, err := f.label(graph, runs, work.OutputShards(p.Counts), p.Memory)
	if err != nil || labels == "" {
		return err
	}
	runs = append(runs, labels)
	for _, d := range []work.Delivery{
		{Step: edgesStep, Needed: []runfile.Kind{records.Edges}, Extra: []runfile.Kind{records.EdgeShards, records.Spans}},
		{Step: documentsStep, Needed: []runfile.Kind{records.Members}, Extra: []runfile.Kind{records.Documents, records.Repeated, records.Unchecked}},
	} {
		if err := p.Deliver(d, runs); err != nil {
			return err
		}
	}
	return nil
}

// label writes the output shards of the nodes of each part and of the documents
// of each split. It returns the path of the run file, "" if there is no edge.
func (f *labelFn) label(graph *components.Graph, runs []string, shards int, m *work.Memory) (string, error) {
	m.Figures.Records += int64(graph.Len())
	order := newOrder(graph.Roots(), f.listed(graph), shards)
	run := &m.Run
	run.Reset(f.Job.Temp, f.Job.RunBytes)
	defer run.Abort()
	err := work.EachPart(runs, records.EdgeNodes, m, func(part int, nodes []byte) error {
		for ; len(nodes) > 0; nodes = nodes[records.NodeSize:] {
			b, err := run.Record(records.EdgeShards, part, records.PositionSize)
			if err != nil {
				return err
			}
			order.of(graph.Rank(records.GetRef(nodes))).Put(b)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for rank, root := range graph.Roots() {
		if !order.has(uint32(rank)) {
			continue
		}
		ref := graph.Ref(rank)
		b, err := run.Record(records.Members, documents.SplitOf(f.Starts, ref), records.MemberSize)
		if err != nil {
			return "", err
		}
		records.PutRef(b, ref)
		order.of(uint32(rank)).Put(b[records.RefSize:])
		order.of(root).Put(b[records.RefSize+records.PositionSize:])
	}
	return run.Close()
}

// listed tells of each component, by its root, whether it is listed. One that no
// document of the input is in is not: it is equal documents of the reference.
func (f *labelFn) listed(graph *components.Graph) []bool {
	roots := graph.Roots()
	listed := make([]bool, len(roots))
	input := sort.Search(len(roots), func(rank int) bool { return graph.Ref(rank) >= f.FirstInput })
	for _, root := range roots[input:] {
		listed[root] = true
	}
	return listed
}

// order is the order of the documents in the output.
type order struct {
	places []uint32 // by rank, or nowhere
	starts []uint32 // of the shards
}

// nowhere is the place of a document that is not listed, and its shard.
const nowhere = ^uint32(0)

// newOrder orders ranks of listed roots by root, then by rank, and cuts the order
// into shards of nearly equal numbers of documents without cutting a component.
func newOrder(roots []uint32, listed []bool, shards int) order {
	n := len(roots)
	ends := make([]uint32, n+1)
	for _, root := range roots {
		if listed[root] {
			ends[root+1]++
		}
	}
	for i := range n {
		ends[i+1] += ends[i]
	}
	o := order{places: make([]uint32, n), starts: make([]uint32, shards)}
	for shard := range shards {
		want := uint32(int64(ends[n]) * int64(shard) / int64(shards))
		// The components that start at or behind the cut belong to the shard.
		o.starts[shard] = ends[sort.Search(n, func(root int) bool { return ends[root] >= want })]
	}
	for rank, root := range roots {
		if o.places[rank] = nowhere; listed[root] {
			o.places[rank] = ends[root]
			ends[root]++
		}
	}
	return o
}

// has reports whether a document is listed.
func (o order) has(rank uint32) bool { return o.places[rank] != nowhere }

func (o order) of(rank uint32) records.Position {
	place := o.places[rank]
	if place == nowhere {
		return records.Position{Shard: nowhere}
	}
	shard := sort.Search(len(o.starts), func(i int) bool { return o.starts[i] > place }) - 1
	return records.Position{Shard: uint32(shard), Number: place - o.starts[shard]}
}

// clusterFn sends the edges of a part, or the documents of a split that are in
// clusters, to their output shards.
type clusterFn struct {
	Job Job

	bundle
}

func (f *clusterFn) ProcessElement(ctx context.Context, element []byte, _ func([]byte)) error {
	return f.begin(ctx, clusterStage, element, func(ctx context.Context, t work.Task, w *work.Place) error {
		if t.Step == edgesStep {
			return sendEdges(ctx, w)
		}
		return sendMembers(ctx, w)
	})
}

// sendEdges sends the edges of a part to their output shards.
func sendEdges(ctx context.Context, w *work.Place) error {
	positions, err := w.Read(0, records.EdgeShards)
	if err != nil {
		return err
	}
	packed, err := w.Read(1, records.Edges)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(packed))
	for ; len(packed) > 0; packed = packed[records.EdgeSize:] {
		e := records.GetEdge(packed)
		a, b := records.GetPosition(positions[e.A*records.PositionSize:]), records.GetPosition(positions[e.B*records.PositionSize:])
		if a.Shard == nowhere {
			continue
		}
		e.A, e.B = min(a.Number, b.Number), max(a.Number, b.Number)
		record, err := w.Run.Record(records.ShardEdges, int(a.Shard), records.EdgeSize)
		if err != nil {
			return err
		}
		records.PutEdge(record, e)
	}
	return sendSpans(w, positions)
}

// sendMembers sends the documents of a split that are in clusters to their
// output shards.
func sendMembers(ctx context.Context, w *work.Place) error {
	members, err := w.Read(1, records.Members)
	if err != nil {
		return err
	}
	repeated, err := records.ReadRefs(&w.Reader, w.Pieces, records.Repeated)
	if err != nil {
		return err
	}
	unchecked, err := records.ReadRefs(&w.Reader, w.Pieces, records.Unchecked)
	if err != nil {
		return err
	}
	return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
		for i := 0; i < block.Len() && len(members) > 0; i++ {
			ref := block.Ref(i)
			if records.GetRef(members) != ref {
				continue
			}
			if err := records.WriteMember(&w.Run, members, block, i, records.FlagsOf(repeated[ref], unchecked[ref])); err != nil {
				return err
			}
			members = members[records.MemberSize:]
		}
		return nil
	})
}
