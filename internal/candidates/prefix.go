package candidates

// Exact keys are shingles of 48 bits, the rarest of each document in an order that
// all share (see PrefixKeys in package lshbands). A record holds, in place of hashes
// of several keys before it, the one shingle that was the key before, whole, and
// how many shingles of the document come before the key.

// PrefixKeyOf returns the Key of a record whose key is a shingle. The bits that
// records of the next key hold first are of all parts of the shingle.
func PrefixKeyOf(shingle uint64) uint64 {
	return KeyOf(shingle<<16|shingle>>32<<3&0xffff, 2)
}

// SetPrevious notes the shingle that was the key before.
func (r *Record) SetPrevious(shingle uint64) {
	r.Previous[0] = PreviousOf(PrefixKeyOf(shingle))
	r.Previous[1] = uint32(shingle >> 16)
}

// previousShingle returns what SetPrevious has noted.
func (r *Record) previousShingle() uint64 { return PreviousShingle(r.Previous[0], r.Previous[1]) }

// PreviousShingle returns the shingle that the first two words of Previous hold.
func PreviousShingle(first, second uint32) uint64 {
	return uint64(second)<<16 | uint64(first>>13)&0xffff
}

// metBefore reports whether two records of one shingle have the same key before
// it. If so they have met there or, by induction, under an earlier one.
func (r *Record) metBefore(other *Record) bool {
	return r.Previous[0] == other.Previous[0] && r.Previous[1] == other.Previous[1] && !r.First && !other.First
}

// reach reports whether two records under the first shingle that they have in
// common can have as many as the threshold asks for: no more than what follows
// in both. It need not be their first where an earlier one is of a dense group, but
// then the two are in its heap.
func (g *Grouper) reach(a, b *Record) bool {
	most := min(a.Size-a.Position, b.Size-b.Position)
	return float64(most)*(1+g.Threshold) >= g.Threshold*float64(a.Size+b.Size)*(1-1e-9)
}
