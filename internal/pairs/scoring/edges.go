package scoring

import (
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
)

type edgeWriter struct {
	run    *runfile.Writer
	number int // number of the part
	part   graphs.Part
}

// setsPart and hotGroupPart return the number of the part that a task of a place makes. Of three numbers from first on,
// sets have one and hotGroups the next one. The third is for stars of very many equal documents (package groups).
func setsPart(first int, place graphs.Place) int { return first + 3*int(place) }

func hotGroupPart(first int, place graphs.Place) int { return first + 3*int(place) + 1 }

func (w *edgeWriter) add(a, b *document, score records.Score) error {
	e := records.Edge[graphs.Node]{A: w.node(a), B: w.node(b), Score: score}
	w.part.Parents.Union(e.A, e.B)
	return records.WriteEdge(w.run, records.Edges, w.number, e)
}

func (w *edgeWriter) node(d *document) graphs.Node {
	if !d.hasNode {
		d.node, d.hasNode = w.part.Add(d.ref, uint32(d.size)), true
	}
	return d.node
}

func (w *edgeWriter) finish() error {
	return records.WritePart(w.run, records.EdgeNodes, w.number, w.part)
}
