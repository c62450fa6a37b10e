// Package groups brings the documents of a key together. From the key records of a shard it makes candidate pairs and
// the stars of equal documents. From the records of ids it finds the documents that share an id. A group of very many
// pairs is oversized: it waits until all oversized groups are known. Then [Bounds] say which of them are compared. The
// others are dense.
package groups

import (
	"math/bits"
)

// Bounds limit how many pairs of very similar documents are compared. They change which pairs are listed.
type Bounds struct {
	// Group is the largest number of new pairs of a group, the documents under one key, that are compared at once. A
	// pair is new if it has not met under another key. A group of more pairs is oversized: it waits until all oversized
	// groups are known.
	Group int64
	// Corpus is the largest number of documents for which a corpus is compared fully, whatever its groups are.
	Corpus int64
	// In a larger corpus all oversized groups together have Spare pairs, plus Each for each document. So have the stars
	// of hot groups together: a star is the documents that are like one pivot. A listed pair takes some 2 microseconds,
	// a document that is like no other 3 to 7.
	Spare, Each int64
	// Passages is the number of pairs that are compared under one passage, if passages are looked for.
	Passages int64
	// Noted is the number of documents that are noted for each one of a large group that is like them, if keys are of
	// SimHash. The pairs of a document that are listed beyond the pairs of Group are with these.
	Noted int64
}

// SmallCorpus is the largest number of documents for which a corpus is compared fully, whatever its groups are.
const SmallCorpus = 4096

// UsualBounds returns the bounds of all jobs; only tests use others.
func UsualBounds() Bounds {
	return Bounds{
		Group:    128 * 127 / 2, // all pairs of 128 documents
		Corpus:   SmallCorpus,
		Spare:    4 << 20,
		Each:     8,
		Passages: 256 * 255 / 2, // larger groups share a passage from a licence or a form
		Noted:    8,
	}
}

// Allowed returns the number of pairs that the oversized groups of a corpus may have together, given its number of
// documents.
func (b *Bounds) Allowed(documents int64) int64 {
	if documents <= b.Corpus {
		return documents * documents
	}
	return b.Spare + b.Each*documents
}

// Limit returns the largest number of pairs of an oversized group that is compared in a corpus of that many documents,
// given the pairs of each oversized group. The limit is a power of two. All oversized groups within it together have no
// more pairs than the bounds allow.
func (b *Bounds) Limit(oversizedGroups []int64, documents int64) int64 {
	var byLength [64]int64
	for _, pairs := range oversizedGroups {
		byLength[bits.Len64(uint64(pairs-1))] += pairs
	}
	allowed, sum := b.Allowed(documents), int64(0)
	for length, pairs := range byLength[:62] {
		if sum += pairs; sum > allowed {
			return 1 << length >> 1
		}
	}
	return 1 << 62
}
