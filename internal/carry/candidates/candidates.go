// Package candidates finds the pairs of documents that share a key.
package candidates

import (
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
)

// Record says that a document has a key.
type Record struct {
	// Key is evenly spread over its upper 61 bits. The lowest three bits hold the number of entries of Previous that are
	// in use. This number is the same for all records of a key.
	Key uint64
	Ref docref.Ref
	// Digest is equal for documents that are identical under the measure.
	Digest digest.Digest
	// Size is the number of distinct shingles of the document.
	Size uint32
	// Position is the number of the key among the keys of the document, from 0. For an exact key it is the number of
	// shingles of the document that come before the key in the order of shingles.
	Position uint32
	// Previous holds hashes of the document's keys before this one, the latest first. For exact keys see SetPrevious.
	Previous [MaxPrevious]uint32
	// Side, if not 0, tells documents that are compared from others: two documents of one side are not.
	Side uint64
	// Second is set in a record that stands for a class of equal documents; see [Class].
	Second docref.Ref
	// First says that this is the document's first key.
	First bool
	// HasBitmap says that Previous holds a bitmap behind the previous key, which is exact.
	HasBitmap bool
	// Mark is for the receiver of pairs to use. The record of Second has the mark of the record of Ref.
	Mark uint32
}

// class returns the documents that the record stands for.
func (r *Record) class() Class { return Class{First: r.Ref, Second: r.Second, Side: r.Side} }

// of returns the record of a document of the class, with the same mark.
func (r *Record) of(ref docref.Ref) *Record {
	if ref == r.Ref {
		return r
	}
	other := *r
	other.Ref = ref
	return &other
}

// InScope mixes a hash into the key and the previous keys of a record, so that it meets records of the same hash only.
// Records that would have shared a key, or a previous one, still do. IsExact says that the key is made by [PrefixKeyOf].
func (r *Record) InScope(scope uint64, isExact bool) {
	// Keys and their parts are made of bits of a hash, so one exclusive or changes all of them alike.
	mask := Record{Key: KeyOf(scope, MaxPrevious)}
	for i := range mask.Previous {
		mask.Previous[i] = PreviousOf(scope)
	}
	if isExact {
		shingle := scope >> 16
		mask.Key = PrefixKeyOf(shingle)
		mask.SetPrevious(shingle)
	}
	r.Key ^= mask.Key &^ previousMask
	if r.First {
		return // there is no previous key
	}
	for i := range r.Known() {
		r.Previous[i] ^= mask.Previous[i]
	}
}

// MaxPrevious is the largest number of keys before a key that a record holds. These are all keys before it in a scheme
// of up to seven bands, such as the scheme for the threshold 0.8.
const MaxPrevious = 6

const previousMask = 7

// KeyOf returns the Key of a record, given the hash of the key and the number of previous keys that the record holds.
func KeyOf(hash uint64, previous int) uint64 { return hash&^previousMask | uint64(previous) }

// KnownOf returns the number of previous keys that a record of that Key holds.
func KnownOf(key uint64) int { return int(key & previousMask) }

// Known returns the number of previous keys that are in use.
func (r *Record) Known() int { return KnownOf(r.Key) }

// Words returns the number of entries of Previous that are in use: for previous keys, and for a bitmap.
func (r *Record) Words() int {
	if r.HasBitmap {
		return r.Known() + bitmapWords
	}
	return r.Known()
}

// PreviousOf returns the part of a key's hash that later records hold.
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

// AppendHashed appends a record for each key of a document, in the order of the keys. The keys are hashes. The document
// is a record without a key.
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
