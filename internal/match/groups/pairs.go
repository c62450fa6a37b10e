package groups

import (
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// Pairs writes the candidate pairs of a shard. They are a part of the candidate graph: a document is one node in all its
// groups.
type Pairs struct {
	run   *runfile.Writer
	shard int
	nodes *graphs.Numbering[graphs.Node]
	part  graphs.Part
	// settled, if not nil, knows pairs that are not written. Those that are similar are edges already.
	settled *Settled
	edges   settledEdges
}

// NewPairs begins the pairs of a shard, in the memory of the task.
func NewPairs(w *work.Desk, shard int) Pairs {
	w.Nodes.Reset()
	return Pairs{run: &w.Run, shard: shard, nodes: &w.Nodes}
}

// Add writes a pair, unless it is settled.
func (p *Pairs) Add(a, b *candidates.Record) error {
	if score, isSimilar, isSettled := p.settled.score(a, b); isSettled {
		if isSimilar {
			p.edges.add(a, b, score)
		}
		return nil
	}
	x, y := p.node(a), p.node(b)
	p.part.Parents.Union(x, y)
	record, err := p.run.Record(records.NodePairs, p.shard, records.NodePairSize)
	if err == nil {
		records.PutNodePair(record, x, y)
	}
	return err
}

// node returns the node of a record's document. The mark of the record is then this node plus 1.
func (p *Pairs) node(r *candidates.Record) graphs.Node {
	if r.Mark > 0 && p.part.Refs[r.Mark-1] == r.Ref {
		return graphs.Node(r.Mark - 1)
	}
	node, isNew := p.nodes.Add(uint64(r.Ref))
	if isNew {
		p.part.Add(r.Ref, r.Size)
	}
	r.Mark = uint32(node) + 1
	return node
}

// Finish writes the documents of the pairs.
func (p *Pairs) Finish() error { return records.WritePart(p.run, records.Nodes, p.shard, p.part) }

// Edges writes edges of a shard: pairs whose score is known. They are a part of the similarity graph.
type Edges struct {
	run   *runfile.Writer
	shard int
	nodes graphs.Numbering[graphs.Node]
	part  graphs.Part
}

// NewEdges begins the edges of a shard.
func NewEdges(w *work.Desk, shard int) Edges { return Edges{run: &w.Run, shard: shard} }

// Add writes the edge between two documents with that score.
func (w *Edges) Add(a, b *candidates.Record, score records.Score) error {
	x, y := w.node(a), w.node(b)
	w.part.Parents.Union(x, y)
	return records.WriteEdge(w.run, records.Edges, w.shard, records.Edge[graphs.Node]{A: x, B: y, Score: score})
}

// node returns the node of a record's document.
func (w *Edges) node(r *candidates.Record) graphs.Node {
	node, isNew := w.nodes.Add(uint64(r.Ref))
	if isNew {
		w.part.Add(r.Ref, r.Size)
	}
	return node
}

// Finish writes the documents of the edges.
func (w *Edges) Finish() error { return records.WritePart(w.run, records.EdgeNodes, w.shard, w.part) }

// stars writes the edges from the first of equal documents to the others. The documents of one star come one after the
// other.
type stars struct {
	run    *runfile.Writer
	shard  int
	part   graphs.Part
	center graphs.Node
}

// add writes the edge from the first of equal documents to another one.
func (w *stars) add(first, other *candidates.Record) error {
	if len(w.part.Refs) == 0 || w.part.Refs[w.center] != first.Ref {
		w.center = w.part.Add(first.Ref, first.Size)
	}
	node := w.part.Add(other.Ref, other.Size)
	w.part.Parents.Union(w.center, node)
	size := int(first.Size)
	return records.WriteEdge(w.run, records.Edges, w.shard, records.Edge[graphs.Node]{A: w.center, B: node, Score: records.NewScore(size, size, false)})
}

// finish writes the documents of the stars, and those edges of the shard that are settled.
func (w *stars) finish(settled *settledEdges) error {
	first := graphs.Node(len(w.part.Refs))
	for i, ref := range settled.part.Refs {
		w.part.Add(ref, settled.part.Weights[i])
	}
	for _, e := range settled.edges {
		e.A, e.B = first+e.A, first+e.B
		w.part.Parents.Union(e.A, e.B)
		if err := records.WriteEdge(w.run, records.Edges, w.shard, e); err != nil {
			return err
		}
	}
	return records.WritePart(w.run, records.EdgeNodes, w.shard, w.part)
}
