package methods

import (
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/lshbands"
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
	Size int
	// Bands are the keys of the bands of its MinHash signature.
	Bands []uint64
	// Content is what else a block holds: the set, or whatever the kind of fingerprint of the method has.
	fingerprints.Content
	// Frequencies says of each shingle of the set about how many documents of the corpus have it; see
	// [lshbands.Counter]. Only Ordered methods have it.
	Frequencies []byte
	SimHash     []uint64
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
	ReadsContent
	ReadsSimHash
)

type reader struct {
	parts   Parts
	content fingerprints.Reader  // nil unless content is read
	memory  fingerprints.Content // of the last document whose content was read
	Document
}

// read reads document i of a block but for its content. Packed is the content, if it is read. Read returns a hash of
// the parts: documents of equal digest and equal hash have the same keys.
func (r *reader) read(block *sketchblock.Block, i int, packed []byte) (hash uint64) {
	r.Ref, r.Digest, r.Size = block.Ref(i), block.Digest(i), block.Size(i)
	r.Scope, r.Side = block.Scope(i), block.Side(i)
	if r.content != nil {
		hash = xxh3.Hash(packed)
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

// readContent reads the packed content of the document, if content is read. Reading may take long: where nobody uses
// it, the content is empty.
func (r *reader) readContent(packed []byte, isUnused bool) (err error) {
	r.Content = fingerprints.Content{}
	if r.content != nil && !isUnused {
		err = r.content.Read(&r.memory, packed)
		r.Content = r.memory
	}
	return err
}

// frequencies hands out the frequencies of the shingles of a split, set by set. The zero value has none.
type frequencies struct {
	packed []byte
	ranges []stretch   // by range: what is left of the stretch at work
	more   [][]stretch // by range: the stretches after it
}

// stretch is where in the packed bytes some frequencies are.
type stretch struct{ next, end int }

var errFrequencies = errors.New("the frequencies of shingles are not those of the sets")

func newFrequencies(packed []byte) (frequencies, error) {
	f := frequencies{packed: packed}
	for rest := packed; len(rest) > 0; {
		s, after, err := records.NextStretch(rest)
		if err != nil {
			return f, err
		}
		if f.ranges == nil {
			f.ranges, f.more = make([]stretch, s.Ranges), make([][]stretch, s.Ranges)
		}
		if s.Ranges != len(f.ranges) || len(s.Packed) == 0 {
			return f, errFrequencies
		}
		end := len(packed) - len(after)
		f.more[s.Range] = append(f.more[s.Range], stretch{end - len(s.Packed), end})
		rest = after
	}
	return f, nil
}

func (f *frequencies) append(all []byte, set []uint64) ([]byte, error) {
	if len(f.ranges) == 0 && len(set) > 0 {
		return nil, errFrequencies
	}
	before := len(all)
	all = slices.Grow(all, len(set))[:before+len(set)]
	packed, ranges, next := f.packed, f.ranges, all[before:]
	for i, hash := range set {
		in := lshbands.RangeOf(hash, len(ranges))
		r := &ranges[in]
		at := r.next
		if at == r.end {
			if len(f.more[in]) == 0 {
				return nil, errFrequencies
			}
			*r, f.more[in] = f.more[in][0], f.more[in][1:]
			at = r.next
		}
		next[i] = packed[at]
		r.next = at + 1
	}
	return all, nil
}

// close returns an error if frequencies are left.
func (f *frequencies) close() error {
	for in, r := range f.ranges {
		if r.next < r.end || len(f.more[in]) > 0 {
			return errFrequencies
		}
	}
	return nil
}
