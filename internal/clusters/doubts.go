package clusters

import (
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
)

const (
	// leastTemplate is the least number of documents of a cluster that may be called a template.
	leastTemplate = 100
	// leastPart is the least number of documents in a part of a cluster that one pair joins to the rest.
	leastPart = 25
)

// Doubt finds clusters that may hold documents which are no near-duplicates. The shard must be decided. Least is the
// least similarity of an edge, from 0 to 1. If clusters are whole components, it also looks for pairs that hold a
// cluster together.
func (s *Shard) Doubt(o *work.Outcome, least float64, areComponents bool) {
	for first, c := range s.cohesions() {
		mean := c.sum / float64(c.gone)
		if s.size[first] >= leastTemplate && c.gone > 0 && mean < (least+1)/2 {
			o.Templates.Add(work.Template{Cluster: s.name(records.Number(first)), Documents: int64(s.size[first]), Mean: mean, Least: c.least})
		}
	}
	if !areComponents {
		return
	}
	for _, found := range s.bridges(leastPart) {
		e := s.edges[found.edge]
		o.Bridges.Add(work.Bridge{
			Cluster: s.name(found.first), Documents: int64(s.size[found.first]), Part: int64(found.part),
			A: s.name(e.A), B: s.name(e.B),
		})
	}
}
