// Package candidates finds the pairs of documents that share a key.
package candidates

import (
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// Record says that a document has a key.
type Record struct {
	// Key is evenly spread over its upper 61 bits. The lowest three bits hold the number of entries of Previous that
	// are in use. This number is the same for all records of a key.
	Key uint64
	Ref docref.Ref
	// Digest is equal for documents that are identical under the measure.
	Digest digest.Digest
	Size   uint32
	// Position is the number of the key among the keys of the document, from 0. For an exact key it is the number of
	// shingles of the document that come before the key in the order of shingles.
	Position uint32
	// Previous holds hashes of the document's keys before this one, the latest first. For exact keys see SetPrevious.
	Previous [MaxPrevious]uint32
	// Side, if not 0, tells documents that are compared from others: two documents of one side are not.
	Side uint64
	// Second is set in a record that stands for a class of equal documents; see [Class].
	Second docref.Ref
	First  bool
	// HasBitmap says that Previous holds a bitmap behind the previous key, which is exact.
	HasBitmap bool
	// Mark is for the receiver of pairs to use. The record of Second has the mark of the record of Ref.
	Mark uint32
}

// Class returns the class of the documents that the record is of.
func (r *Record) Class() Class { return Class{First: r.Ref, Second: r.Second, Side: r.Side} }

// Of returns the record of a document of the class, with the same mark.
func (r *Record) Of(ref docref.Ref) *Record {
	if ref == r.Ref {
		return r
	}
	other := *r
	other.Ref = ref
	return &other
}

// InScope mixes a hash into the key and the previous keys of a record, so that it meets records of the same hash only.
// Records that would have shared a key, or a previous one, still do. IsExact says that [PrefixKeyOf] made it.
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

func (r *Record) met(other *Record) bool {
	for i := range r.Known() {
		if r.Previous[i] == other.Previous[i] {
			return true
		}
	}
	return false
}

// AppendHashed appends a record for each key of a document, in order. The keys are hashes. The document has no key yet.
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

// Class is a class of equal documents. They are similar to the same other documents.
//
// Two documents are not compared if both are of the reference, or if both are of one side. So a class may need two
// documents to stand for it: a second one for pairs that its first one cannot make.
type Class struct {
	// First is the first document of the class. Second is the first of those that may be compared with First: where
	// First is of the reference it is the first of the input, and where First has a side it is the first of another
	// side. If there is none, Second is First.
	First, Second docref.Ref
	// Side is the side of First, 0 if it has none.
	Side uint64
}

// Apart reports whether no documents of two classes are compared: all are of the reference, or of one side.
func Apart(a, b Class, firstInput docref.Ref) bool {
	return a.First == a.Second && b.First == b.Second && firstsApart(a, b, firstInput)
}

func firstsApart(a, b Class, firstInput docref.Ref) bool {
	return max(a.First, b.First) < firstInput || a.Side != 0 && a.Side == b.Side
}

// Ends returns the two documents that stand for a pair of classes. Each is the first document of its class, unless
// these two are not compared. Then the second document stands for the later class or, if that has none, for the earlier
// class. If neither has one, there is no pair, and ok is false.
func Ends(a, b Class, firstInput docref.Ref) (x, y docref.Ref, ok bool) {
	if a.First > b.First {
		y, x, ok = Ends(b, a, firstInput)
		return x, y, ok
	}
	switch {
	case !firstsApart(a, b, firstInput):
		return a.First, b.First, true
	case b.Second != b.First:
		return a.First, b.Second, true
	}
	return a.Second, b.First, a.Second != a.First
}

// Exact keys are shingles of 48 bits: the rarest of each document, in an order that all documents share (see PrefixKeys
// in package lshbands). A record of an exact key does not hold hashes of several previous keys. It holds one previous
// key, the whole shingle, and the number of the document's shingles that come before the key. The [Bitmap] of the
// document may follow.

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

// PreviousShingle returns the shingle that the first two words of Previous hold.
func PreviousShingle(first, second uint32) uint64 {
	return uint64(second)<<16 | uint64(first>>13)&0xffff
}

// metBefore reports whether two records of one shingle have the same previous key. If so, their documents have met
// there or, by induction, under an earlier key.
func (r *Record) metBefore(other *Record) bool {
	return r.Previous[0] == other.Previous[0] && r.Previous[1] == other.Previous[1] && !r.First && !other.First
}

// reach reports whether two documents can have as many shingles in common as the threshold asks for, if the key is the
// first one: no more than follow it in both documents. If the key is not the first one, an earlier key is dense. Then
// both documents are in the hot group of that key.
func (g *Grouper) reach(a, b *Record) bool {
	most := min(a.Size-a.Position, b.Size-b.Position)
	return float64(most)*(1+g.Threshold) >= g.Threshold*float64(a.Size+b.Size)*(1-1e-9)
}

// A bitmap stands for a set that is not at hand. Each element flips one bit, so an element that two sets have in common
// makes no difference: the bitmaps differ in no more bits than the sets in elements. If they differ in too many, the
// sets are not similar. This is the bitmap filter of set-similarity joins (Sandes, Teodoro and Melo, Bitmap filter:
// speeding up exact set similarity joins with bitwise operations, 2020).

// Bitmap is the bitmap of a document in a key record. It tells documents of up to some 300 shingles apart.
type Bitmap [2]uint64

// BitmapOf returns the bitmap of a set of hashes.
func BitmapOf(set []uint64) (b Bitmap) {
	Flip(b[:], set, 0)
	return b
}

// Flip flips the bits of a set of hashes in a bitmap, which has any number of words. The hashes have 48 bits, enough
// for two bitmaps: number 0 and number 1.
func Flip(bitmap, set []uint64, number int) {
	for _, hash := range set {
		hash >>= 22 * number
		bitmap[hash>>6&0xffff*uint64(len(bitmap))>>16] ^= 1 << (hash & 63)
	}
}

// rounding is what a bound of elements allows for errors of rounding: no pair must be lost.
const rounding = 1e-6

// MostDiffering returns the largest number of elements in which two sets may differ and still have a Jaccard similarity
// of the threshold. Together is the sum of their sizes.
func MostDiffering(together int, threshold float64) int {
	return int(((1-threshold)*float64(together) + rounding) / (1 + threshold))
}

// mayDiffer reports whether two sets may differ in a number of elements, as MostDiffering says. It does not divide.
func mayDiffer(elements, together int, threshold float64) bool {
	return float64(elements)*(1+threshold) <= (1-threshold)*float64(together)+rounding
}

// bitmapRows holds the bitmaps of a group, one behind the other, and compares one with all that follow.
type bitmapRows struct {
	bitmaps   []uint64
	distances []uint16
}

func (b *bitmapRows) read(group []Record) {
	b.bitmaps = b.bitmaps[:0]
	if !slices.ContainsFunc(group, func(r Record) bool { return r.HasBitmap }) {
		return
	}
	for i := range group {
		bitmap := group[i].bitmap() // of no meaning if there is none
		b.bitmaps = append(b.bitmaps, bitmap[:]...)
	}
}

// row returns in how many bits the bitmap of record i differs from each one behind it, up to the limit; nil for none.
func (b *bitmapRows) row(group []Record, i, limit int) []uint16 {
	if !group[i].HasBitmap || limit <= i+1 {
		return nil
	}
	const words = len(Bitmap{})
	b.distances = slices.Grow(b.distances[:0], limit)[:limit-i-1]
	asmkernels.Hamming(b.distances, b.bitmaps[words*i:][:words], b.bitmaps[words*(i+1):words*limit])
	return b.distances
}
