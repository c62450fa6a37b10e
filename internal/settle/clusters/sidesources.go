package clusters

import "mirrorbeam/internal/read/sources"

// sidedClass is a class of identical documents and a side.
type sidedClass struct {
	class int // by its first document
	side  uint64
}

// countAcross is CountSources for documents that have sides, given the source of each: documents of one side are no
// near-duplicates.
func (s *Shard) countAcross(of []sources.Number, c *sources.Counts) {
	all := make([]sources.Set, len(s.members))    // the sources of each class
	shared := make([]sources.Set, len(s.members)) // the sources with documents of several sides
	units := map[sidedClass]*sources.Set{}        // the sources of the documents of one side
	sidesOf := map[int][]uint64{}
	for i := range s.members {
		unit := sidedClass{int(s.first[i]), s.sides[i]}
		if units[unit] == nil {
			units[unit] = &sources.Set{}
			sidesOf[unit.class] = append(sidesOf[unit.class], unit.side)
		}
		if in := units[unit]; !in.Has(of[i]) {
			in.Put(of[i])
			if all[unit.class].Has(of[i]) {
				shared[unit.class].Put(of[i])
			}
			all[unit.class].Put(of[i])
		}
	}
	// others returns the sources of the documents of a class that are not of a side.
	others := func(class int, side uint64) sources.Set {
		in := all[class]
		if own := units[sidedClass{class, side}]; own != nil {
			in.RemoveAll(*own)
			both := shared[class]
			in.PutAll(both)
		}
		return in
	}
	near := map[sidedClass]*sources.Set{}
	for unit := range units {
		in := others(unit.class, unit.side)
		near[unit] = &in
	}
	for _, e := range s.edges {
		a, b := int(s.first[e.A]), int(s.first[e.B])
		if a == b {
			continue
		}
		for _, ends := range [2][2]int{{a, b}, {b, a}} {
			for _, side := range sidesOf[ends[0]] {
				near[sidedClass{ends[0], side}].PutAll(others(ends[1], side))
			}
		}
	}
	for i := range s.end() {
		c.Share(of[i], *near[sidedClass{int(s.first[i]), s.sides[i]}])
		if s.choices != nil && s.goes(i) {
			c.Removed.Add(of[i], 1)
		}
	}
}
