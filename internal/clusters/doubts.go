package clusters

import (
	"encoding/json"
	"fmt"

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
func (s *Shard) Doubt(o *work.Outcome, least float64, areComponents bool) error {
	for first, c := range s.cohesions() {
		mean := c.sum / float64(c.gone)
		if s.size[first] < leastTemplate || c.gone == 0 || mean >= (least+1)/2 {
			continue
		}
		cluster, err := s.plainName(records.Number(first))
		if err != nil {
			return err
		}
		o.Templates.Add(work.Template{Cluster: cluster, Documents: int64(s.size[first]), Mean: mean, Least: c.least})
	}
	if !areComponents {
		return nil
	}
	for _, found := range s.bridges(leastPart) {
		e := s.edges[found.edge]
		b := work.Bridge{Documents: int64(s.size[found.first]), Part: int64(found.part)}
		for _, name := range []struct {
			of records.Number
			to *string
		}{{found.first, &b.Cluster}, {e.A, &b.A}, {e.B, &b.B}} {
			var err error
			if *name.to, err = s.plainName(name.of); err != nil {
				return err
			}
		}
		o.Bridges.Add(b)
	}
	return nil
}

// plainName returns the name of a document as it is, and not as a JSON string.
func (s *Shard) plainName(i records.Number) (name string, err error) {
	if err = json.Unmarshal(s.names[i], &name); err != nil {
		err = fmt.Errorf("name of document %s: %w", s.names[i], err)
	}
	return name, err
}
