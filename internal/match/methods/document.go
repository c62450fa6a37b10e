package methods

import (
	"github.com/zeebo/xxh3"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/sketch"
)

// Document holds what keys are made of. Parts that its method does not read may be missing.
type Document struct {
	Ref docref.Ref
	// Digest is equal for documents that are identical under the measure.
	Digest digest.Digest
	// Scope is the hash of what the document shares with those that it is compared with, 0 if it is compared with all.
	// Keys need not heed it: it is mixed into them later.
	Scope uint64
	// Side is the hash of that in which the document differs from those that it is compared with, 0 if it is compared
	// with all. Keys do not depend on it.
	Side uint64
	// Size is the number of distinct shingles.
	Size int
	// Bands are the keys of the bands of its MinHash signature.
	Bands []uint64
	// Set holds the distinct shingle hashes, ascending.
	Set []uint64
	// Frequencies says of each shingle of the set about how many documents of the corpus have it; see
	// [lshbands.Counter]. Only Ordered methods have it.
	Frequencies []byte
	// Sequence are the shingles in the order of the text.
	Sequence sketch.Sequence
	// SimHash is the SimHash fingerprint.
	SimHash []uint64
}

// Record returns the record of the document, without a key.
func (d *Document) Record() candidates.Record {
	return candidates.Record{Ref: d.Ref, Digest: d.Digest, Side: d.Side, Size: uint32(d.Size)}
}

// AppendDigest appends the record that brings a document together only with equal ones.
func AppendDigest(all []candidates.Record, d *Document) []candidates.Record {
	r := d.Record()
	r.Key, r.First = candidates.KeyOf(d.Digest[0], 0), true
	return append(all, r)
}

// Parts is a set of the parts that a sketch block holds of a document.
type Parts uint

const (
	// ReadsBands reads Bands of a [Document], which are of the scheme of the [Parameters].
	ReadsBands Parts = 1 << iota
	// ReadsSets reads Set.
	ReadsSets
	// ReadsSequences reads Sequence.
	ReadsSequences
	// ReadsSimHash reads SimHash.
	ReadsSimHash
)

// stored are the parts that stand beside the block.
const stored = ReadsSets | ReadsSequences

// reader reads the documents of sketch blocks.
type reader struct {
	parts    Parts
	sequence sketchblock.Sequence
	Document
}

// read reads document i of a block. Packed is its set or sequence, if these are read. Read returns a hash of the parts
// that it has read: documents of equal digest and equal hash have the same keys. It does not parse sequences.
func (r *reader) read(block *sketchblock.Block, i int, packed []byte) (hash uint64) {
	r.Ref, r.Digest, r.Size = block.Ref(i), block.Digest(i), block.Size(i)
	r.Scope, r.Side = block.Scope(i), block.Side(i)
	if r.parts&stored != 0 {
		hash = xxh3.Hash(packed)
	}
	if r.parts&ReadsSets != 0 {
		r.Set = sketchblock.AppendSet(r.Set[:0], packed)
	}
	if r.parts&ReadsBands != 0 {
		r.Bands = r.Bands[:0]
		for k := range block.Keys() {
			r.Bands = append(r.Bands, block.Key(i, k))
		}
		hash ^= r.Bands[0]
	}
	if r.parts&ReadsSimHash != 0 {
		r.SimHash = block.SimHash(r.SimHash[:0], i)
		for _, word := range r.SimHash {
			hash = asmkernels.SplitMix(hash ^ word)
		}
	}
	return hash
}

// parse parses the sequence of the document, if sequences are read. The sequence of a repeat stays empty: parsing takes
// long, and nobody uses it.
func (r *reader) parse(packed []byte, isRepeat bool) (err error) {
	r.Sequence = sketch.Sequence{}
	if r.parts&ReadsSequences == 0 || isRepeat {
		return nil
	}
	if r.sequence, err = sketchblock.ParseSequence(r.sequence, packed); err != nil {
		return err
	}
	r.Sequence = sketch.Sequence(r.sequence)
	return nil
}
