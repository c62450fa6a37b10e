package scoring

import (
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
)

// edgeWriter writes the edges of a part of the similarity graph and collects its nodes.
type edgeWriter struct {
	run    *runfile.Writer
	number int // number of the part
	part   components.Part
}

// setsPart and heapPart return the number of the part that a task of a place makes. Heaps have the odd numbers, counted
// from first.
func setsPart(first, place int) int { return first + 2*place }

func heapPart(first, place int) int { return first + 2*place + 1 }

// add writes the edge of two documents.
func (w *edgeWriter) add(a, b *document, e records.Edge) error {
	e.A, e.B = w.node(a), w.node(b)
	w.part.Parents.Union(e.A, e.B)
	record, err := w.run.Record(records.Edges, w.number, records.EdgeSize)
	if err == nil {
		records.PutEdge(record, e)
	}
	return err
}

// node returns the number of a document among the nodes.
func (w *edgeWriter) node(d *document) uint32 {
	if d.node == 0 {
		w.part.Refs = append(w.part.Refs, d.ref)
		w.part.Weights = append(w.part.Weights, uint32(d.size))
		w.part.Parents = append(w.part.Parents, uint32(len(w.part.Parents)))
		d.node = uint32(len(w.part.Refs))
	}
	return d.node - 1
}

// finish writes the nodes.
func (w *edgeWriter) finish() error {
	return records.WritePart(w.run, records.EdgeNodes, w.number, w.part)
}
