// Package candidates finds the pairs of documents that share a key.
package candidates

import "mirrorbeam/internal/docref"

// Record says that a document has a key.
type Record struct {
	// Key is evenly spread over its 61 upper bits. The lowest three say how many
	// of Previous are in use, the same for all records of a key.
	Key uint64
	Ref docref.Ref
	// Digest tells which documents are identical under the measure.
	Digest uint64
	// Size is the number of distinct shingles of the document.
	Size uint32
	// Position is how many of an exact key's shingles come before it in their order,
	// else the number of the key among those of the document.
	Position uint32
	// Previous holds hashes of the document's keys before this one, the latest
	// first; for exact keys see SetPrevious.
	Previous [MaxPrevious]uint32
	// Input is, in a record that stands for a class of equal documents, the first of
	// them that is of the input, or Ref where none is; see [Class].
	Input docref.Ref
	// First says that this is the document's first key.
	First bool
	// Mark is for the receiver of pairs to use. A record of Input has that of Ref.
	Mark uint32
}

// class returns the documents that the record stands for.
func (r *Record) class() Class { return Class{First: r.Ref, Input: r.Input} }

// of returns the record of another document of the class, with the same mark.
func (r *Record) of(ref docref.Ref) *Record {
	if ref == r.Ref {
		return r
	}
	other := *r
	other.Ref = ref
	return &other
}

// MaxPrevious is how many keys a document is known to have had before a key: all
// for schemes of up to seven, such as that of the threshold 0.8.
const MaxPrevious = 6

const previousMask = 7

// KeyOf returns the Key of a record: the hash of a key, and how many previous ones
// the record holds.
func KeyOf(hash uint64, previous int) uint64 { return hash&^previousMask | uint64(previous) }

// KnownOf returns how many previous keys a record of that Key holds.
func KnownOf(key uint64) int { return int(key & previousMask) }

// Known returns how many of the previous keys are in use.
func (r *Record) Known() int { return KnownOf(r.Key) }

// PreviousOf returns what later records hold of the hash of a key.
func PreviousOf(hash uint64) uint32 { return uint32(hash >> 3) }

// met reports whether two records of one key have an earlier key in common.
func (r *Record) met(other *Record) bool {
	for i := range r.Known() {
		if r.Previous[i] == other.Previous[i] {
			return true
		}
	}
	return false
}

// AppendHashed appends the records of the keys of a document, which are hashes, in their
// order. The document is a record without a key.
func AppendHashed(records []Record, document Record, keys []uint64) []Record {
	r := document
	for i, key := range keys {
		r.Key, r.Position, r.First = KeyOf(key, min(i, MaxPrevious)), uint32(i), i == 0
		records = append(records, r)
		copy(r.Previous[1:], r.Previous[:])
		r.Previous[0] = PreviousOf(key)
	}
	return records
}
