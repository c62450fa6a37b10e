package groups

import "math/bits"

// Bounds say how many documents that are much alike are compared with each other.
// They change which pairs are listed.
type Bounds struct {
	// Group is how many pairs that have not met before a group of documents under one
	// key has at most, if it is compared whatever others there are. One of more pairs
	// is a crowd: it waits until all are known.
	Group int64
	// Corpus is up to how many documents a corpus is compared fully, whatever its
	// groups are.
	Corpus int64
	// In a larger corpus crowds have Spare pairs together, and Each for each document.
	// So have the stars of heaps: the documents that are like one leader. A pair that
	// is listed takes some 2 microseconds, a document that is like no other 3 to 7.
	Spare, Each int64
	// Passages is how many pairs of documents that share a passage are compared, if
	// passages are looked for.
	Passages int64
	// Listed is how many pairs a group lists for each document beside those of Group, if
	// keys are of SimHash.
	Listed int64
}

// SmallCorpus is the number of documents up to which a corpus is compared fully, whatever
// its groups are.
const SmallCorpus = 4096

// UsualBounds returns the bounds of all jobs but for tests.
func UsualBounds() Bounds {
	return Bounds{
		Group:  128 * 127 / 2, // all pairs of 128 documents
		Corpus: SmallCorpus, Spare: 4 << 20, Each: 8,
		Passages: 256 * 255 / 2, // more have such a passage from a licence or a form
		Listed:   128,
	}
}

// allowed returns how many pairs of crowds are compared in a corpus of that many
// documents.
func (b *Bounds) allowed(documents int64) int64 {
	if documents <= b.Corpus {
		return documents * documents
	}
	return b.Spare + b.Each*documents
}

// Limit returns the largest number of pairs of a crowd that is compared in a corpus of
// that many documents, given the pairs of each crowd. It is a power of two, such that the
// crowds of up to that many pairs have no more together than the bounds allow.
func (b *Bounds) Limit(crowds []int64, documents int64) int64 {
	var byLength [64]int64
	for _, pairs := range crowds {
		byLength[bits.Len64(uint64(pairs-1))] += pairs
	}
	allowed, sum := b.allowed(documents), int64(0)
	for length, pairs := range byLength[:62] {
		if sum += pairs; sum > allowed {
			return 1 << length >> 1
		}
	}
	return 1 << 62
}
