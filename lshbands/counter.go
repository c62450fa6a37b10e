package lshbands

import (
	"bytes"
	"fmt"
	"iter"
	"math"

	"mirrorbeam.dev/asmkernels"
)

// Counter counts in how many documents each shingle of a range of hashes occurs. It knows shingles by the lower 24 bits
// of their hashes, and counts coarsely: shingles that share a cell are counted together.
//
// [Counter.Reset] comes first.
type Counter struct{ asmkernels.CountTable }

const (
	// shinglesPerWord is a compromise. More words prove more unique shingles to be unique. But a larger table leaves
	// the processor's cache.
	shinglesPerWord = 8
	// leastWords cost next to nothing.
	leastWords = 1 << 13
)

// Cells returns the number of cells of the counters of a corpus whose documents have that many shingles in all. The
// more there are, the fewer shingles of one document seem to be in several.
func Cells(shingles float64) float64 {
	ranges := float64(Ranges(int64(shingles)))
	return ranges * asmkernels.CellsPerWord * max(shingles/ranges/shinglesPerWord, leastWords)
}

// Reset makes the counter one that has counted nothing. Shingles is the sum over all documents of how many each has.
// Reset keeps the memory.
func (c *Counter) Reset(shingles int) {
	words := max(shingles/shinglesPerWord, leastWords)
	if words > cap(c.CountTable) {
		c.CountTable = make(asmkernels.CountTable, words)
		return
	}
	c.CountTable = c.CountTable[:words]
	clear(c.CountTable)
}

const allFrequencies = asmkernels.MaxFrequency + 1

const (
	// shinglesPerRange is about the number of shingles in a range. Their counter fits into a core's cache, and few of
	// them have the lower bits of their hashes in common.
	shinglesPerRange = 1 << 19
	// mostRanges bounds the number of things that are kept for each range. Beyond it ranges grow with the corpus.
	mostRanges = 1 << 16
)

// Ranges returns into how many ranges of equal width the hashes are cut, to be counted by as many counters: for a
// corpus whose documents have that many shingles in all.
func Ranges(shingles int64) int { return int(min(shingles/shinglesPerRange+1, mostRanges)) }

// RangeOf returns the range, of that many, that contains a hash of 48 bits.
func RangeOf(hash uint64, ranges int) int { return int(hash * uint64(ranges) >> 48) }

// Counters are the counters of all ranges.
type Counters struct {
	ranges []Counter
}

// NewCounters returns counters for a number of shingles, summed over all documents.
func NewCounters(shingles int) *Counters {
	c := &Counters{make([]Counter, Ranges(int64(shingles)))}
	for i := range c.ranges {
		c.ranges[i].Reset(shingles / len(c.ranges))
	}
	return c
}

// Add counts a document. Set has the hashes of its shingles.
func (c *Counters) Add(set []uint64) {
	packed := make([]byte, 0, 512) // on the stack
	for in, of := range c.byRange(set) {
		packed = asmkernels.AppendCounted(packed[:0], of)
		c.ranges[in].Add(packed)
	}
}

// AppendFrequencies appends the frequency of each shingle of a set, as [asmkernels.CountTable.AppendFrequencies] does.
func (c *Counters) AppendFrequencies(frequencies []byte, set []uint64) []byte {
	packed := make([]byte, 0, 512) // on the stack
	for in, of := range c.byRange(set) {
		packed = asmkernels.AppendCounted(packed[:0], of)
		frequencies = c.ranges[in].AppendFrequencies(frequencies, packed)
	}
	return frequencies
}

// byRange yields the parts of a set that lie in one range each, with the range.
func (c *Counters) byRange(set []uint64) iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		for len(set) > 0 {
			in, n := RangeOf(set[0], len(c.ranges)), 1
			for n < len(set) && RangeOf(set[n], len(c.ranges)) == in {
				n++
			}
			if !yield(in, set[:n]) {
				return
			}
			set = set[n:]
		}
	}
}

// Exact keys: the prefix filter of set-similarity joins (Chaudhuri, Ganti and Kaushik, A primitive operator for
// similarity joins in data cleaning, 2006; Bayardo, Ma and Srikant, Scaling up all pairs similarity search, 2007).
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

// NewPrefixKeys returns a finder of keys for a Jaccard threshold above 0 and up to 1, and an error for any other.
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
