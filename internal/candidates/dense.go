package candidates

// Again goes through sorted records once more, when DenseKeys are known, and compares
// pairs that have met under dense keys only, where not all are compared, in small
// groups. Exact keys need none of that: what comes after a dense one is denser.
func (g *Grouper) Again(records []Record) {
	eachGroup(records, func(group []Record) {
		if g.DenseKeys[group[0].hash()] {
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
		if group = g.distinct(group[:n]); group == nil {
			return
		}
		if len(group) > fewDocuments {
			return // they are in a heap together
		}
		g.compare(group, func(a, b *Record) bool { return g.metDense(a, b) > 0 })
	})
}

// hasDense reports whether a key before is dense.
func (g *Grouper) hasDense(r *Record) bool {
	_, has := g.DenseBefore(r)
	return has
}

// DenseBefore returns a dense key that a record's document has had before, if it has.
func (g *Grouper) DenseBefore(r *Record) (key uint32, has bool) {
	known := r.Previous[:r.Known()]
	if g.Exact {
		known = known[:1] // what follows is the rest of the same key
		if r.First {
			return 0, false
		}
	}
	for _, key := range known {
		if g.DenseKeys[key] {
			return key, true
		}
	}
	return 0, false
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
