package groups

import (
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/numbering"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/work"
)

// Pairs writes the candidate pairs of a shard by the numbers of their documents. They are a part of the candidate
// graph. A document has one number in all its groups.
type Pairs struct {
	run   *runfile.Writer
	shard int
	nodes *numbering.Set
	part  components.Part
}

// NewPairs begins the pairs of a shard, in the memory of the task.
func NewPairs(w *work.Place, shard int) Pairs {
	w.Nodes.Reset()
	return Pairs{run: &w.Run, shard: shard, nodes: &w.Nodes}
}

// Add writes a pair.
func (p *Pairs) Add(a, b *candidates.Record) error {
	x, y := p.number(a), p.number(b)
	p.part.Parents.Union(x, y)
	record, err := p.run.Record(records.Numbers, p.shard, records.NumberSize)
	if err == nil {
		records.PutNumbers(record, x, y)
	}
	return err
}

// number returns the number of a record's document, and notes it in the record.
func (p *Pairs) number(r *candidates.Record) uint32 {
	if r.Mark == 0 || p.part.Refs[r.Mark-1] != r.Ref {
		number, isNew := p.nodes.Add(uint64(r.Ref))
		if isNew {
			addNode(&p.part, r, number)
		}
		r.Mark = number + 1
	}
	return r.Mark - 1
}

// Finish writes the documents of the pairs.
func (p *Pairs) Finish() error { return records.WritePart(p.run, records.Nodes, p.shard, p.part) }

// Edges writes edges of a shard: pairs that need no more scoring. They are a part of the similarity graph.
type Edges struct {
	run     *runfile.Writer
	shard   int
	numbers numbering.Set
	part    components.Part
}

// NewEdges begins the edges of a shard.
func NewEdges(w *work.Place, shard int) Edges { return Edges{run: &w.Run, shard: shard} }

// Add writes an edge between two documents. It sets the ends of e.
func (w *Edges) Add(a, b *candidates.Record, e records.Edge) error {
	e.A, e.B = w.number(a), w.number(b)
	w.part.Parents.Union(e.A, e.B)
	return putEdge(w.run, w.shard, e)
}

func (w *Edges) number(r *candidates.Record) uint32 {
	number, isNew := w.numbers.Add(uint64(r.Ref))
	if isNew {
		addNode(&w.part, r, number)
	}
	return number
}

// Finish writes the documents of the edges.
func (w *Edges) Finish() error { return records.WritePart(w.run, records.EdgeNodes, w.shard, w.part) }

// stars writes the edges from the first of equal documents to the others. The documents
// of one star come one after the other.
type stars struct {
	run    *runfile.Writer
	shard  int
	part   components.Part
	center docref.Ref
	number uint32
}

func (w *stars) add(first, other *candidates.Record) error {
	if len(w.part.Refs) == 0 || w.center != first.Ref {
		w.center, w.number = first.Ref, uint32(len(w.part.Refs))
		addNode(&w.part, first, w.number)
	}
	addNode(&w.part, other, w.number)
	return putEdge(w.run, w.shard, records.Edge{
		A: w.number, B: uint32(len(w.part.Refs) - 1), Shared: first.Size, Total: first.Size,
	})
}

func (w *stars) finish() error { return records.WritePart(w.run, records.EdgeNodes, w.shard, w.part) }

func addNode(part *components.Part, r *candidates.Record, parent uint32) {
	part.Refs = append(part.Refs, r.Ref)
	part.Weights = append(part.Weights, r.Size)
	part.Parents = append(part.Parents, parent)
}

func putEdge(run *runfile.Writer, shard int, e records.Edge) error {
	b, err := run.Record(records.Edges, shard, records.EdgeSize)
	if err == nil {
		records.PutEdge(b, e)
	}
	return err
}
