package clusters

import (
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
)

// sidedClass is a class of identical documents and a side.
type sidedClass struct {
	class records.Number
	side  uint64
}

// countAcross is countSources for documents with sides: documents of one side are no near-duplicates.
func (s *Shard) countAcross(c *sources.Counts) {
	store := s.store.Beside()
	defer store.Close()
	all := listIn[sources.Set](store, s.classes.len())    // the sources of each class
	shared := listIn[sources.Set](store, s.classes.len()) // the sources with documents of several sides
	units := map[sidedClass]*sources.Set{}                // the sources of the documents of one side
	sidesOf := map[records.Number][]uint64{}
	sides := s.members.Sides()
	for i := range s.end() {
		of, unit := s.members.Source(i), sidedClass{s.classes.of.At(i), sides.At(i)}
		if units[unit] == nil {
			units[unit] = &sources.Set{}
			sidesOf[unit.class] = append(sidesOf[unit.class], unit.side)
		}
		if in := units[unit]; !in.Has(of) {
			in.Put(of)
			if all.Edit(unit.class).Has(of) {
				shared.Edit(unit.class).Put(of)
			}
			all.Edit(unit.class).Put(of)
		}
	}
	// others returns the sources of the documents of a class that are not of a side.
	others := func(class records.Number, side uint64) sources.Set {
		in := all.At(class)
		if own := units[sidedClass{class, side}]; own != nil {
			in.RemoveAll(*own)
			in.PutAll(shared.At(class))
		}
		return in
	}
	near := map[sidedClass]*sources.Set{}
	for unit := range units {
		in := others(unit.class, unit.side)
		near[unit] = &in
	}
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		a, b := s.classes.of.At(e.A), s.classes.of.At(e.B)
		if a == b {
			continue
		}
		for _, ends := range [2][2]records.Number{{a, b}, {b, a}} {
			for _, side := range sidesOf[ends[0]] {
				near[sidedClass{ends[0], side}].PutAll(others(ends[1], side))
			}
		}
	}
	for i := range s.end() {
		of := s.members.Source(i)
		c.Share(of, *near[sidedClass{s.classes.of.At(i), sides.At(i)}])
		if s.goes(i) {
			c.Removed.Add(of, 1)
		}
	}
}
