package lshbands

import (
	"bytes"
	"fmt"
	"math"
)

// Exact keys: the prefix filter of set-similarity joins (Chaudhuri, Ganti and
// Kaushik, A primitive operator for similarity joins in data cleaning, 2006;
// Bayardo, Ma and Srikant, Scaling up all pairs similarity search, 2007).
//
// A set whose Jaccard similarity to a set of n shingles reaches the threshold contains at least threshold*n
// of its shingles. Put the shingles of all documents into one order. Then the two sets share a shingle among
// the first n - threshold*n + 1 of each, where n is the size of the respective set. So no pair is missed,
// whatever the order. The order decides only how many pairs meet in vain. The best order has rare shingles
// first: the order of their frequencies (see [Counter]), and among equal ones the order of their hashes.

// PrefixKey is a shingle by which partners of a document are found.
type PrefixKey struct {
	Hash uint64
	// Position is how many shingles of the document come before it in the order.
	Position uint32
	// Frequency says in about how many documents it is, as [Counter] does.
	Frequency byte
}

// PrefixKeys finds the keys of documents. It is not for concurrent use.
type PrefixKeys struct {
	threshold float64

	shared      []uint64 // shingles that other documents may have
	frequencies []byte   // of the shared shingles
	keys        []PrefixKey
}

// NewPrefixKeys returns a finder of keys for a Jaccard similarity threshold above 0 and up to 1. The error says
// that it is not.
func NewPrefixKeys(threshold float64) (*PrefixKeys, error) {
	if !(threshold > 0 && threshold <= 1) { // also refuses NaN
		return nil, fmt.Errorf("threshold %g: must be above 0 and at most 1", threshold)
	}
	return &PrefixKeys{threshold: threshold}, nil
}

// PrefixLength returns the length of the prefix of a document with n shingles. In any common order of
// shingles, the prefixes of two similar documents share a shingle.
func PrefixLength(threshold float64, n int) int {
	// Take a little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(n) * (1 - 1e-9)))
	return min(n-least+1, n)
}

// Of returns the keys of a document in their order. They are those shingles of its prefix that another
// document may have. Set has the hashes of the document in ascending order, and frequencies the frequency of
// each, which must be the same in all documents. A document without keys has no partner, not even an
// identical one. The keys are valid until the next call.
func (p *PrefixKeys) Of(set []uint64, frequencies []byte) []PrefixKey {
	// Shingles that no other document has come first in the order, and need no search.
	unique := bytes.Count(frequencies, []byte{0})
	length := PrefixLength(p.threshold, len(set))
	if unique >= length {
		return nil
	}
	if cap(p.shared) <= len(set) {
		p.shared = make([]uint64, 2*len(set)+1)
		p.frequencies = make([]byte, 2*len(set)+1)
	}
	shared, ofShared := p.shared[:cap(p.shared)], p.frequencies[:cap(p.shared)]
	n := 0
	for i, frequency := range frequencies {
		shared[n], ofShared[n] = set[i], frequency
		n += int((uint(frequency) + allFrequencies - 1) / allFrequencies)
	}
	p.shared, p.frequencies = shared[:n], ofShared[:n]
	return p.rarest(length-unique, uint32(unique))
}

// rarest returns the n rarest of the shared shingles. The first of them has the given position.
func (p *PrefixKeys) rarest(n int, position uint32) []PrefixKey {
	var ends [allFrequencies]uint32
	for _, frequency := range p.frequencies {
		ends[frequency%allFrequencies]++
	}
	sum := uint32(0)
	for frequency, count := range ends {
		ends[frequency] = sum
		sum += count
	}
	p.keys = append(p.keys[:0], make([]PrefixKey, n)...)
	// Stable: shingles of one frequency stay in the order of hashes.
	for i, hash := range p.shared {
		frequency := p.frequencies[i] % allFrequencies
		if at := ends[frequency]; at < uint32(n) {
			p.keys[at] = PrefixKey{Hash: hash, Position: position + at, Frequency: frequency}
			ends[frequency]++
		}
	}
	return p.keys
}
