package methods

import "mirrorbeam/internal/unionfind"

// beyondBound decides which pairs of a large group are listed besides those within its bound: those that hold the group together,
// and one of each document with the first one that is like it. So no cluster falls apart, and nearly all documents that are
// like a kept one have a row that says so. The zero value has seen no pair.
type beyondBound struct {
	skipped int64
	joined  unionfind.Forest[uint32]
	first   []firstAlike // by document
	missing []uint32     // by document: its pairs that are not listed
}

// firstAlike is the first document of a group that is like another one. Its number is one more than its place in the group; 0:
// there is none.
type firstAlike struct{ number, distance uint32 }

// joins takes a pair i < j of a group of that many documents. It reports whether the pair holds the group together.
func (b *beyondBound) joins(i, j, distance, documents int) bool {
	if b.joined == nil {
		b.joined, b.first, b.missing = unionfind.New[uint32](documents), make([]firstAlike, documents), make([]uint32, documents)
	}
	if b.joined.Find(uint32(i)) != b.joined.Find(uint32(j)) {
		b.joined.Union(uint32(i), uint32(j))
		return true
	}
	b.skipped++
	b.missing[i]++
	b.missing[j]++
	if f := &b.first[j]; f.number == 0 || f.number > uint32(i)+1 {
		*f = firstAlike{uint32(i) + 1, uint32(distance)}
	}
	return false
}

// eachFirst visits the pairs of documents with the first ones that are like them, as far as [beyondBound.joins] has not reported
// them.
func (b *beyondBound) eachFirst(visit func(i, j, distance int)) {
	for j, f := range b.first {
		if f.number == 0 {
			continue
		}
		i := int(f.number) - 1
		visit(i, j, int(f.distance))
		b.skipped--
		b.missing[i]--
		b.missing[j]--
	}
}
