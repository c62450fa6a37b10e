package candidates

// Exact keys are shingles of 48 bits: the rarest of each document, in an order that all documents share (see PrefixKeys
// in package lshbands). A record of an exact key does not hold hashes of several previous keys. It holds one previous key,
// the whole shingle, and the number of the document's shingles that come before the key. The [Bitmap] of the document may
// follow.

// The words of Previous that a record of an exact key uses: for the previous key, and for a bitmap.
const (
	prefixWords = 2
	bitmapWords = 4
)

// PrefixKeyOf returns the Key of a record whose key is a shingle. It mixes bits from all parts of the shingle into the
// part that the record of the next key holds first.
func PrefixKeyOf(shingle uint64) uint64 {
	return KeyOf(shingle<<16|shingle>>32<<3&0xffff, prefixWords)
}

// SetBitmap gives a record of an exact key the bitmap of its document.
func (r *Record) SetBitmap(b Bitmap) {
	r.HasBitmap = true
	for i, word := range b {
		r.Previous[prefixWords+2*i], r.Previous[prefixWords+2*i+1] = uint32(word), uint32(word>>32)
	}
}

// bitmap returns the bitmap that SetBitmap has set.
func (r *Record) bitmap() (b Bitmap) {
	for i := range b {
		b[i] = uint64(r.Previous[prefixWords+2*i]) | uint64(r.Previous[prefixWords+2*i+1])<<32
	}
	return b
}

// SetPrevious sets the previous key, which is a shingle.
func (r *Record) SetPrevious(shingle uint64) {
	r.Previous[0] = PreviousOf(PrefixKeyOf(shingle))
	r.Previous[1] = uint32(shingle >> 16)
}

// previousShingle returns the shingle that SetPrevious has set.
func (r *Record) previousShingle() uint64 { return PreviousShingle(r.Previous[0], r.Previous[1]) }

// PreviousShingle returns the shingle that the first two words of Previous hold.
func PreviousShingle(first, second uint32) uint64 {
	return uint64(second)<<16 | uint64(first>>13)&0xffff
}

// metBefore reports whether two records of one shingle have the same previous key. If so, their documents have met there
// or, by induction, under an earlier key.
func (r *Record) metBefore(other *Record) bool {
	return r.Previous[0] == other.Previous[0] && r.Previous[1] == other.Previous[1] && !r.First && !other.First
}

// reach reports whether two documents can have as many shingles in common as the threshold asks for, if the key is the
// first one: no more than follow it in both documents. If the key is not the first one, an earlier key is dense. Then
// both documents are in the heap of that key.
func (g *Grouper) reach(a, b *Record) bool {
	most := min(a.Size-a.Position, b.Size-b.Position)
	return float64(most)*(1+g.Threshold) >= g.Threshold*float64(a.Size+b.Size)*(1-1e-9)
}
