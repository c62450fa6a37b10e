package clusters

import (
	"fmt"
	"math"

	"mirrorbeam/internal/carry/joining"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/standing"
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
	// Standing is the path of the components of the last run, where some may stand; "" if none does.
	Standing work.Path
	// Ranges, if above 0, says that tasks of [LabellingRange] have labelled the components of as many ranges of document order.
	Ranges int

	layout documents.Layout // read in Setup
}

// Setup reads the list of inputs.
func (l *Labelling) Setup() error { return l.layout.Read(string(l.Inputs)) }

// The steps of [Sending].
const (
	edgesStep = iota
	membersStep
	standingStep
)

// Plan joins the edges of all runs to components, gives their documents positions and makes the tasks that send edges
// and documents there, and the ones that say what stands between them. Without an edge there is no other task. See, if not nil, sees each document and the first document of
// its component.
//
// The tasks that made the edges were the last to read the gathered sets, so the run files of these go.
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
		{Step: edgesStep, Needed: []runfile.Kind{records.Edges}, Extra: []runfile.Kind{records.EdgeShards, records.RangeShards, records.Spans}},
		{Step: membersStep, Needed: []runfile.Kind{records.Members}, Extra: []runfile.Kind{records.Documents, records.Repeated, records.Unchecked, records.PartlyListed, records.Pages}},
		{Step: standingStep, Needed: []runfile.Kind{records.Stretches}},
	} {
		d.Into, d.Enough = work.OutputShards(p.Counts), work.FewTasks
		if err := p.Deliver(d, runs); err != nil {
			return err
		}
	}
	return nil
}

// WithoutEdges are the stages before this one whose run files have no edge.
var WithoutEdges = []work.Stage{work.Fingerprint, work.Strip, work.Narrow, work.Gather, work.Audit, work.Source}

// label writes the positions of the nodes of each part. It also writes the positions of the documents of each split,
// with the first documents of their clusters. It returns the path of the run file, or "" if there is no edge.
func (l *Labelling) label(p *work.Planning, see func(ref, first docref.Ref)) (string, error) {
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	edges := work.RunsBut(p.Outcomes, WithoutEdges...)
	graph := work.GraphOf(edges, records.EdgeNodes, p, l.GraphBytes)
	graph.IsUniform = true
	of := &labeller{run: &p.Run, layout: &l.layout, figures: &p.Figures, see: seeing(see), order: order{shards: work.OutputShards(p.Counts)}}
	err := of.readStanding(l.Standing, p)
	if err == nil {
		err = joining.Label(graph, of)
	}
	if err == nil {
		err = of.standBefore(^docref.Ref(0))
	}
	if err != nil {
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

	list   *standing.List
	stands []uint32 // the components of the list that stand and have no place yet
	last   standing.Stretch
	lastAt int // its output shard
}

// isListed reports whether a component is in the output. A component without a document of the input is not: it holds
// equal documents of the reference.
func (l *labeller) isListed(c joining.Component) bool { return c.Last >= l.layout.FirstInput }

// Count counts the documents of listed components.
func (l *labeller) Count(c joining.Component) {
	if l.isListed(c) {
		l.order.total += c.Weight
	}
}

// Place returns the position of a component.
func (l *labeller) Place(c joining.Component) (uint64, error) {
	if !l.isListed(c) {
		return uint64(records.Nowhere), nil
	}
	if err := l.standBefore(c.First); err != nil {
		return 0, err
	}
	at, err := l.order.add(c.Weight)
	return uint64(at.Shard) | uint64(at.Number)<<32, err
}

// seeing returns a function of the labeller that calls see, if that is not nil.
func seeing(see func(ref, first docref.Ref)) func(ref, first docref.Ref) error {
	return func(ref, first docref.Ref) error {
		if see != nil {
			see(ref, first)
		}
		return nil
	}
}

// Document returns the position of a document, and tells it the task of the document's split.
func (l *labeller) Document(d joining.Document) (records.RangePosition, error) {
	l.figures.Records++
	if err := l.see(d.Ref, d.Component.First); err != nil {
		return records.RangePosition{}, err
	}
	first := records.Position{Shard: records.OutputShard(d.Component.Value), Number: records.Number(d.Component.Value >> 32)}
	if first.Shard == records.Nowhere {
		return records.RangePosition{At: first}, nil
	}
	at := records.Position{Shard: first.Shard, Number: first.Number + records.Number(d.Before)}
	b, err := l.run.Record(records.Members, documents.SplitOf(l.layout.Starts, d.Ref), records.MemberSize)
	if err == nil {
		records.PutRef(b, d.Ref)
		at.Put(b[records.RefSize:])
		first.Put(b[records.RefSize+records.PositionSize:])
	}
	return records.RangePosition{At: at, First: first.Number}, err
}

// Node writes the position of a node.
func (l *labeller) Node(part int, node graphs.Node, p records.RangePosition) error {
	kind, size, put := records.EdgeShards, records.NodePositionSize, func(b []byte) { records.PutNodePosition(b, node, p.At) }
	if l.isRange {
		kind, size, put = records.RangeShards, records.RangePositionSize, func(b []byte) { records.PutRangePosition(b, node, p) }
	}
	b, err := l.run.Record(kind, part, size)
	if err == nil {
		put(b)
	}
	return err
}

// readStanding reads which components of the last run stand.
func (l *labeller) readStanding(path work.Path, p *work.Planning) (err error) {
	if path == "" {
		return nil
	}
	err = work.EachRecordOf(p.Outcomes, work.Group, records.Standing, p.Memory, func(packed []byte) error {
		l.stands = append(l.stands, standing.Chosen(packed)...)
		return nil
	})
	if err != nil || len(l.stands) == 0 {
		return err
	}
	if l.list, err = standing.Read(string(path)); err != nil {
		return err
	}
	for _, i := range l.stands {
		l.order.total += int64(len(l.list.Documents(int(i))))
	}
	return nil
}

// standBefore gives the components that stand, and begin before a document, their place.
func (l *labeller) standBefore(first docref.Ref) error {
	for ; len(l.stands) > 0; l.stands = l.stands[1:] {
		i := l.stands[0]
		documents := l.list.Documents(int(i))
		if documents[0].Ref >= first {
			break
		}
		at := l.order.pass(int64(len(documents)))
		next := standing.Stretch{Before: at.Number, From: i, To: i + 1}
		if l.last.To == i && l.last.Before == at.Number && l.lastAt == int(at.Shard) {
			l.last.To++
			continue
		}
		if err := l.writeStretch(); err != nil {
			return err
		}
		l.last, l.lastAt = next, int(at.Shard)
	}
	if first == ^docref.Ref(0) {
		return l.writeStretch()
	}
	return nil
}

// writeStretch writes the last stretch of components that stand, if there is one.
func (l *labeller) writeStretch() error {
	if l.last.From == l.last.To {
		return nil
	}
	b, err := l.run.Record(records.Stretches, l.lastAt, standing.StretchSize)
	if err == nil {
		l.last.Put(b)
	}
	return err
}

// order gives components their positions in the output, in the order of their first documents. It cuts that order into
// shards of nearly equal numbers of documents without cutting a component. The zero order has no shard.
type order struct {
	shards int
	total  int64 // number of documents
	next   int64 // number of documents before the next component
	shard  int   // the current shard
	listed int64 // number of its documents so far that were not passed
}

// add returns the position of the first document of the next component, which has the given number of documents. The sum of all
// sizes must be the total.
func (o *order) add(size int64) (records.Position, error) {
	at := o.pass(size)
	if o.listed += size; o.listed > math.MaxUint32 {
		return records.Position{}, fmt.Errorf("order clusters: output shard %d has more than %d documents", o.shard, uint32(math.MaxUint32))
	}
	return at, nil
}

// pass does the same for a component whose documents get no numbers. The next one that is added to the shard has the same position.
func (o *order) pass(size int64) records.Position {
	// A component that starts at or after the cut belongs to the shard.
	for o.shard+1 < o.shards && o.next >= o.cut(o.shard+1) {
		o.shard++
		o.listed = 0
	}
	o.next += size
	return records.Position{Shard: records.OutputShard(o.shard), Number: records.Number(o.listed)}
}

// cut returns the number of documents before a shard if components could be cut.
func (o *order) cut(shard int) int64 { return o.total * int64(shard) / int64(o.shards) }
