package clusters

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/joining"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// Labelling joins the verified edges to components, orders the components by their first documents and cuts that order
// into output shards. It makes the tasks of [Sending].
type Labelling struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// ReleaseSets says that no output needs the sets of the sketch blocks: they may go as soon as the edges are known.
	ReleaseSets bool
	// GraphBytes is about how much memory the documents of components may take.
	GraphBytes int64
	// Ranges, if above 0, is the number of ranges of document order whose components [LabellingRange] has labelled.
	Ranges int

	layout documents.Layout // read in Setup
}

func (l *Labelling) Setup() error { return l.layout.Read(string(l.Inputs)) }

// The steps of [Sending].
const (
	edgesStep = iota
	membersStep
)

// Plan joins the edges of all runs to components and makes the tasks that send edges and documents to their positions.
// Without an edge there is no task. See sees each document and the first document of its component. The run files of
// the gathered sets go: the tasks that made the edges were the last to read them.
func (l *Labelling) Plan(p *work.Planning, see func(ref, first docref.Ref)) error {
	p.Runs.ReleaseStage(p.Outcomes, work.Gather)
	if l.ReleaseSets {
		p.Runs.ReleaseSets(p.Outcomes)
	}
	runs := work.RunsBut(p.Outcomes, work.Gather, work.Source)
	if l.Ranges > 0 {
		isEmpty, err := addUp(p, l.Ranges, see)
		if err != nil || isEmpty {
			return err
		}
	} else {
		labels, err := l.label(p, see)
		if err != nil || labels == "" {
			return err
		}
		runs = append(runs, labels)
	}
	for _, d := range []work.Delivery{
		{
			Step:   edgesStep,
			Needed: []runfile.Kind{records.Edges},
			Extra:  []runfile.Kind{records.EdgeShards, records.RangeShards, records.Spans},
		},
		{
			Step:   membersStep,
			Needed: []runfile.Kind{records.Members},
			Extra: []runfile.Kind{
				records.Documents, records.Repeated, records.Unchecked, records.PartlyListed,
				records.Pages,
			},
		},
	} {
		d.Into, d.Enough = work.OutputShards(p.Counts), work.FewTasks
		if err := p.Deliver(d, runs); err != nil {
			return err
		}
	}
	return nil
}

// WithoutEdges are the stages before this one whose run files have no edge.
var WithoutEdges = []work.Stage{work.Fingerprint, work.Strip, work.Prune, work.Gather, work.Audit, work.Source}

// label writes the positions of the nodes of each part. It also writes the positions of the documents of each split,
// with the first documents of their clusters. It returns the path of the run file, or "" if there is no edge.
func (l *Labelling) label(p *work.Planning, see func(ref, first docref.Ref)) (string, error) {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	edges := work.RunsBut(p.Outcomes, WithoutEdges...)
	graph := work.GraphOf(edges, records.EdgeNodes, p, l.GraphBytes)
	graph.IsUniform = true
	of := &labeller{
		run:     &p.Run,
		layout:  &l.layout,
		figures: &p.Figures,
		order:   order{shards: work.OutputShards(p.Counts)},
	}
	of.see = func(ref, first docref.Ref) error {
		see(ref, first)
		return nil
	}
	if err := joining.Label(graph, of); err != nil {
		return "", err
	}
	return p.Run.Close()
}

// labeller gives documents their positions. The value of a component is the position of its first document.
type labeller struct {
	run     *runfile.Writer
	layout  *documents.Layout
	figures *work.Figures
	see     func(ref, first docref.Ref) error
	order   order
	isRange bool // the positions are in a range
}

// isListed reports whether a component is in the output. One without a document of the input is not.
func (l *labeller) isListed(c joining.Component) bool { return c.Last >= l.layout.FirstInput }

func (l *labeller) Count(c joining.Component) {
	if l.isListed(c) {
		l.order.total += c.Weight
	}
}

func (l *labeller) Place(c joining.Component) (uint64, error) {
	if !l.isListed(c) {
		return uint64(records.Nowhere), nil
	}
	at, err := l.order.add(c.Weight)
	return uint64(at.Shard) | uint64(at.Number)<<32, err
}

// Document returns the position of a document, and tells it the task of the document's split.
func (l *labeller) Document(d joining.Document) (records.RangePosition, error) {
	l.figures.Records++
	if err := l.see(d.Ref, d.Component.First); err != nil {
		return records.RangePosition{}, err
	}
	first := records.Position{
		Shard:  records.OutputShard(d.Component.Value),
		Number: records.Number(d.Component.Value >> 32),
	}
	if first.Shard == records.Nowhere {
		return records.RangePosition{At: first}, nil
	}
	at := records.Position{Shard: first.Shard, Number: first.Number + records.Number(d.Before)}
	return records.RangePosition{At: at, First: first.Number}, records.WriteFixed(l.run, records.Members,
		documents.SplitOf(l.layout.Starts, d.Ref), records.ListedDocument{Ref: d.Ref, At: at, First: first})
}

func (l *labeller) Node(part int, node graphs.Node, p records.RangePosition) error {
	if l.isRange {
		of := records.OfNode[records.RangePosition]{Node: node, Is: p}
		return records.WriteFixed(l.run, records.RangeShards, part, of)
	}
	return records.WriteFixed(l.run, records.EdgeShards, part, records.OfNode[records.Position]{Node: node, Is: p.At})
}

// order gives components their positions in the output, in the order of their first documents. It cuts that order into
// shards of nearly equal numbers of documents without cutting a component. The zero order has no shard.
type order struct {
	shards int
	total  int64 // number of documents
	next   int64 // number of documents before the next component
	shard  int   // the current shard
	start  int64 // number of documents before it
}

// add returns the position of the first document of the next component, which has the given number of documents. The
// sum of all sizes must be the total.
func (o *order) add(size int64) (records.Position, error) {
	// A component that starts at or after the cut belongs to the shard.
	for o.shard+1 < o.shards && o.next >= o.cut(o.shard+1) {
		o.shard++
		o.start = o.next
	}
	number := o.next - o.start
	o.next += size
	if o.next-o.start > math.MaxUint32 {
		return records.Position{}, fmt.Errorf("order clusters: output shard %d has more than %d documents", o.shard,
			uint32(math.MaxUint32))
	}
	return records.Position{Shard: records.OutputShard(o.shard), Number: records.Number(number)}, nil
}

// cut returns the number of documents before a shard if components could be cut.
func (o *order) cut(shard int) int64 { return o.total * int64(shard) / int64(o.shards) }

// Cut joins documents by edges to components and cuts these into output shards, as [Labelling] does, for documents that
// fit into memory. The documents stand in document order, and the edges name them by their places there, the earlier
// one first. Documents without an edge are in no shard. Of each shard, Cut also returns the places of its edges in the
// list that it was given, in the order of rows of pairs.
func Cut(layout *documents.Layout, members []records.Member, edges []records.Edge[records.Number],
	shards int,
) (all []*Shard, of [][]int, err error) {
	joined := graphs.NewForest[records.Number](len(members))
	for _, e := range edges {
		joined.Union(e.A, e.B)
	}
	joined.Flatten()
	components := make([][]records.Number, len(members)) // by their first documents
	for i := range members {
		first := joined[i]
		components[first] = append(components[first], records.Number(i))
	}
	o := order{shards: shards}
	isListed := func(component []records.Number) bool {
		return len(component) > 1 && members[component[len(component)-1]].Ref >= layout.FirstInput
	}
	for _, component := range components {
		if isListed(component) {
			o.total += int64(len(component))
		}
	}
	sorted, places := make([][]records.Member, shards), make([]records.Position, len(members))
	for i := range places {
		places[i].Shard = records.Nowhere
	}
	for _, component := range components {
		if !isListed(component) {
			continue
		}
		at, err := o.add(int64(len(component)))
		if err != nil {
			return nil, nil, err
		}
		for i, document := range component {
			places[document] = records.Position{Shard: at.Shard, Number: at.Number + records.Number(i)}
			member := members[document]
			member.First = at.Number
			sorted[at.Shard] = append(sorted[at.Shard], member)
		}
	}
	all, of = make([]*Shard, shards), cutEdges(edges, places, shards)
	store := &paged.Store{} // holds all
	for shard := range all {
		own := make([]records.Edge[records.Number], 0, len(of[shard]))
		for _, i := range of[shard] {
			own = append(own, records.Edge[records.Number]{
				A:     places[edges[i].A].Number,
				B:     places[edges[i].B].Number,
				Score: edges[i].Score,
			})
		}
		if all[shard], err = newShard(
			layout, records.NewMemberList(store, sorted[shard]), store, listed(own), variants.Warn,
		); err != nil {
			return nil, nil, err
		}
	}
	return all, of, nil
}

// listed returns the function that visits edges that are at hand.
func listed(edges []records.Edge[records.Number]) func(visit func(records.Edge[records.Number])) error {
	return func(visit func(records.Edge[records.Number])) error {
		for _, e := range edges {
			visit(e)
		}
		return nil
	}
}

// cutEdges returns the numbers of the edges of each shard, in the order of the places of their documents.
func cutEdges(edges []records.Edge[records.Number], places []records.Position, shards int) [][]int {
	of := make([][]int, shards)
	for i, e := range edges {
		if shard := places[e.A].Shard; shard != records.Nowhere {
			of[shard] = append(of[shard], i)
		}
	}
	for _, own := range of {
		slices.SortFunc(own, func(i, j int) int {
			return cmp.Or(cmp.Compare(places[edges[i].A].Number, places[edges[j].A].Number),
				cmp.Compare(places[edges[i].B].Number, places[edges[j].B].Number))
		})
	}
	return of
}
