package candidates

// KeyID returns what tells the key of a record from all others, in 48 bits: as
// [Grouper.DenseKeys] hold it. Two keys of hashes may have the same one, by chance.
func (g *Grouper) KeyID(r *Record) uint64 {
	if g.Exact {
		return r.Key >> 16
	}
	return bandID(int(r.Position), PreviousOf(r.Key))
}

// bandID tells the keys of different bands apart.
func bandID(band int, hash uint32) uint64 { return uint64(band)<<32 | uint64(hash) }

// previousID returns the KeyID of the key that a record's document has had that many
// keys before, and one more.
func (g *Grouper) previousID(r *Record, before int) uint64 {
	if g.Exact {
		return r.previousShingle()
	}
	return bandID(int(r.Position)-1-before, r.Previous[before])
}

// DenseBefore returns a dense key that a record's document has had before, if it has.
func (g *Grouper) DenseBefore(r *Record) (id uint64, has bool) {
	known := r.Known()
	if g.Exact {
		known = 1 // the two words are one shingle
	}
	if r.First {
		known = 0
	}
	for i := range known {
		id := g.previousID(r, i)
		if _, has := g.DenseKeys.Find(id); has {
			return id, true
		}
	}
	return 0, false
}

// Again goes through sorted records once more, when DenseKeys are known. It compares the
// pairs of a group that have met under dense keys only, where not all pairs are compared.
// Where these may be more than four times MaxComparisons, they are left to the heaps that
// they are in. Exact keys need none of that: what comes after a dense one is denser.
func (g *Grouper) Again(records []Record) {
	eachGroup(records, func(group []Record) {
		if _, isDense := g.DenseKeys.Find(g.KeyID(&group[0])); isDense {
			return
		}
		// Only documents with a dense key before can have met under one.
		n := 0
		for i := range group {
			if _, has := g.DenseBefore(&group[i]); has {
				group[n] = group[i]
				n++
			}
		}
		if n < 2 {
			return
		}
		if group = g.distinct(group[:n]); PairsOf(int64(len(group)), 0) <= 4*g.MaxComparisons {
			g.compare(group, g.metDense)
		}
	})
}

// metDense reports whether two records have keys before in common, and all of these are
// dense.
func (g *Grouper) metDense(a, b *Record) bool {
	has := false
	for i := range a.Known() {
		if a.Previous[i] != b.Previous[i] {
			continue
		}
		if _, has = g.DenseKeys.Find(g.previousID(a, i)); !has {
			return false
		}
	}
	return has
}
