package candidates

// KeyID returns an id of 48 bits that distinguishes the key of a record from other keys. [Grouper.DenseKeys] holds such
// ids. Two hashed keys may have the same id by chance.
func (g *Grouper) KeyID(r *Record) uint64 {
	if g.Exact {
		return r.Key >> 16
	}
	return bandID(int(r.Position), PreviousOf(r.Key))
}

// bandID returns the id of the key of a band, of 48 bits. Keys of different bands have different ids. Keys that have no
// bands are all at position 0, so the key before one is of band -1.
func bandID(band int, hash uint32) uint64 { return uint64(uint16(band))<<32 | uint64(hash) }

// previousID returns the KeyID of an earlier key of a record's document; 0 before is the latest one.
func (g *Grouper) previousID(r *Record, before int) uint64 {
	if g.Exact {
		return PreviousShingle(r.Previous[0], r.Previous[1])
	}
	return bandID(int(r.Position)-1-before, r.Previous[before])
}

// DenseBefore returns the id of a dense key that the record's document has had before, if there is one.
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

// Again goes through sorted records once more, when DenseKeys is known. Not all pairs that have met under a dense key
// are compared there. So Again compares the pairs of a group that have met under dense keys only. A group in which such
// pairs may be more than four times MaxComparisons is left to the hot groups of its documents. Exact keys do not need
// Again: the keys after a dense key are denser.
func (g *Grouper) Again(records []Record) {
	g.eachGroup(records, func(group []Record) {
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

// metDense reports whether two records have earlier keys in common, and all of these are dense.
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
