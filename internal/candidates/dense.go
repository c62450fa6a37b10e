package candidates

import (
	"cmp"
	"slices"
)

// Again goes through sorted records once more, when DenseKeys are known, and
// compares pairs that have met under dense keys only and may have been skipped
// there. A pair is compared under its first common key that is not dense. Where
// all its common keys are, it is compared under the second of them, among the
// documents that share the first: these divide a dense group further.
func (g *Grouper) Again(records []Record) {
	eachGroup(records, func(group []Record) {
		if g.Exact {
			g.againBefore(group)
			return
		}
		// Only documents with a dense key before can have met under one.
		n := 0
		for i := range group {
			if g.hasDense(&group[i]) {
				group[n] = group[i]
				n++
			}
		}
		if n < 2 {
			return
		}
		dense := g.DenseKeys[group[0].hash()]
		if group = g.distinct(group[:n]); group == nil {
			return
		}
		if dense {
			g.divide(group)
		} else {
			g.compare(group, func(a, b *Record) bool { return g.metDense(a, b) > 0 })
		}
	})
}

// hasDense reports whether a key before is dense.
func (g *Grouper) hasDense(r *Record) bool {
	for _, key := range r.Previous[:r.Known()] {
		if g.DenseKeys[key] {
			return true
		}
	}
	return false
}

// metDense returns how many keys before two records have in common, all of them
// dense, or 0 if one is not.
func (g *Grouper) metDense(a, b *Record) int {
	n := 0
	for i := range a.Known() {
		if a.Previous[i] != b.Previous[i] {
			continue
		}
		if !g.DenseKeys[a.Previous[i]] {
			return 0
		}
		n++
	}
	return n
}

// compare passes on all wanted pairs of a group that is ordered by size.
func (g *Grouper) compare(group []Record, wanted func(a, b *Record) bool) {
	for i := range group {
		a := &group[i]
		for j := i + 1; j < g.limit(group, i); j++ {
			if b := &group[j]; !ofReference(a, b) && wanted(a, b) {
				g.pair(a, b)
			}
		}
	}
}

// divide compares the documents of a dense group, ordered by size, that share one
// dense key before. Where even these are too many, each is compared with their
// first one.
func (g *Grouper) divide(group []Record) {
	type member struct {
		key   uint32
		index int
	}
	var members []member
	for i := range group {
		for _, key := range group[i].Previous[:group[i].Known()] {
			if g.DenseKeys[key] {
				members = append(members, member{key, i})
			}
		}
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.index, b.index))
	})
	once := func(a, b *Record) bool { return g.metDense(a, b) == 1 }
	var part []Record
	for start := 0; start < len(members); {
		end := start
		part = part[:0]
		for ; end < len(members) && members[end].key == members[start].key; end++ {
			part = append(part, group[members[end].index])
		}
		switch {
		case len(part) < 2:
		case g.isDense(part):
			g.star(part, once)
		default:
			g.compare(part, once)
		}
		start = end
	}
}
