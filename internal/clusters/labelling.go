package clusters

import (
	"sort"

	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Labelling joins the verified edges to components, orders the components by their first documents and cuts that order
// into output shards. It makes the tasks of [Sending].
type Labelling struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// ReleaseSets says that no output needs the sets of the sketch blocks: they may go as soon as the edges are known.
	ReleaseSets bool

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (l *Labelling) Setup() error { return l.layout.Read(string(l.Inputs)) }

// Join joins the edges of all runs. The tasks that made the edges were the last to read the gathered sets, so the run
// files of these may go.
func (l *Labelling) Join(p *work.Planning) (*components.Graph, error) {
	p.Runs.ReleaseStage(p.Outcomes, work.Gather)
	return work.ReadGraph(runsOf(p), records.EdgeNodes, p.Memory)
}

// runsOf returns the runs that hold edges and documents.
func runsOf(p *work.Planning) []string { return work.RunsBut(p.Outcomes, work.Gather) }

// The steps of [Sending].
const (
	edgesStep = iota
	membersStep
)

// Plan gives the documents of the graph their positions and makes the tasks that send
// edges and documents there. Without an edge there is no task.
func (l *Labelling) Plan(p *work.Planning, graph *components.Graph) error {
	if l.ReleaseSets {
		p.Runs.ReleaseSets(p.Outcomes)
	}
	runs := runsOf(p)
	labels, err := l.label(p, graph, runs)
	if err != nil || labels == "" {
		return err
	}
	runs = append(runs, labels)
	for _, d := range []work.Delivery{
		{Step: edgesStep, Needed: []runfile.Kind{records.Edges}, Extra: []runfile.Kind{records.EdgeShards, records.Spans}},
		{Step: membersStep, Needed: []runfile.Kind{records.Members}, Extra: []runfile.Kind{records.Documents, records.Repeated, records.Unchecked}},
	} {
		if err := p.Deliver(d, runs); err != nil {
			return err
		}
	}
	return nil
}

// label writes the positions of the nodes of each part. It also writes the positions of the documents of each split,
// with those of the first documents of their clusters. It returns the path of the run file, or "" if there is no edge.
func (l *Labelling) label(p *work.Planning, graph *components.Graph, runs []string) (string, error) {
	p.Figures.Records += int64(graph.Len())
	order := newOrder(graph.Roots(), listed(graph, l.layout.FirstInput), work.OutputShards(p.Counts))
	run := &p.Run
	p.Runs.Begin(run)
	defer run.Abort()
	err := work.EachPart(runs, records.EdgeNodes, p.Memory, func(part int, nodes []byte) error {
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
	roots := graph.Roots()
	for rank, ref := range graph.Refs() {
		if !order.has(rank) {
			continue
		}
		b, err := run.Record(records.Members, documents.SplitOf(l.layout.Starts, ref), records.MemberSize)
		if err != nil {
			return "", err
		}
		records.PutRef(b, ref)
		order.of(rank).Put(b[records.RefSize:])
		order.of(roots[rank]).Put(b[records.RefSize+records.PositionSize:])
	}
	return run.Close()
}

// listed returns, for each component by its root, whether it is listed. A component without a document of the input is
// not: it holds equal documents of the reference.
func listed(graph *components.Graph, firstInput docref.Ref) []bool {
	roots := graph.Roots()
	is := make([]bool, len(roots))
	input := sort.Search(len(roots), func(rank int) bool { return graph.Ref(components.Rank(rank)) >= firstInput })
	for _, root := range roots[input:] {
		is[root] = true
	}
	return is
}
