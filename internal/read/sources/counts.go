package sources

import "math/bits"

// Tally counts something by the number of a source. Counts behind its end are 0.
type Tally []int64

// Add adds n to the count of a source.
func (t *Tally) Add(of Number, n int64) {
	for int(of) >= len(*t) {
		*t = append(*t, 0)
	}
	(*t)[of] += n
}

// AddAll adds another tally, source by source.
func (t *Tally) AddAll(other Tally) {
	for of, n := range other {
		t.Add(Number(of), n)
	}
}

// Of returns the count of a source.
func (t Tally) Of(n Number) int64 {
	if int(n) < len(t) {
		return t[n]
	}
	return 0
}

// Counts says how many documents each source has, how many of them are removed, and how many have a near-duplicate in
// which source. A document has a near-duplicate in a source if another document of that source is equal to it, or if a
// verified edge joins it, or a document that is equal to it, to a document of that source or to one that is equal to
// such a document.
type Counts struct {
	Documents Tally `json:",omitempty"`
	Removed   Tally `json:",omitempty"`
	// Elsewhere counts the documents that have a near-duplicate in another source.
	Elsewhere Tally `json:",omitempty"`
	// Shared counts, by source, the documents that have a near-duplicate in each source.
	Shared []Tally `json:",omitempty"`
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Documents.AddAll(other.Documents)
	c.Removed.AddAll(other.Removed)
	c.Elsewhere.AddAll(other.Elsewhere)
	for of := range other.Shared {
		c.shared(Number(of)).AddAll(other.Shared[of])
	}
}

// Share counts a document of a source that has near-duplicates in others, and maybe in its own.
func (c *Counts) Share(of Number, in Set) {
	if in == (Set{}) {
		return
	}
	tally := c.shared(of)
	for source := range in.All {
		tally.Add(source, 1)
	}
	if in.Remove(of); in != (Set{}) {
		c.Elsewhere.Add(of, 1)
	}
}

// shared returns the tally of the sources that have near-duplicates of documents of a source.
func (c *Counts) shared(of Number) *Tally {
	for int(of) >= len(c.Shared) {
		c.Shared = append(c.Shared, nil)
	}
	return &c.Shared[of]
}

// Set is a set of sources.
type Set [(Most + 63) / 64]uint64

// Put adds a source.
func (s *Set) Put(n Number) { s[n/64] |= 1 << (n % 64) }

// Remove takes a source out.
func (s *Set) Remove(n Number) { s[n/64] &^= 1 << (n % 64) }

// Has reports whether a source is in the set.
func (s *Set) Has(n Number) bool { return s[n/64]>>(n%64)&1 != 0 }

// PutAll adds all sources of another set.
func (s *Set) PutAll(other Set) {
	for i := range s {
		s[i] |= other[i]
	}
}

// RemoveAll takes all sources of another set out.
func (s *Set) RemoveAll(other Set) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// All yields the sources in ascending order.
func (s Set) All(yield func(Number) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(Number(64*i + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
